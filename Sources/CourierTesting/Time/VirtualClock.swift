public import CourierTransport
import Synchronization

/// A clock for the timers of event loops, whose time passes only when a test moves it.
///
/// ```swift
/// let clock = VirtualClock()
/// let loop = try EventLoop(clock: clock)
/// connect(on: loop)                                     // gives up after 30 s
/// await clock.run(for: .seconds(29), on: loop)          // not yet
/// let wait = await clock.advanceToNextTimer(of: loop)   // now; `wait` is 1 s
/// ```
///
/// In this example, `connect(on:)` is a function of the test, which sets a timer of 30 s. So 1 s is left after 29 s.
/// ``advance(by:)`` jumps: all timers up to the new time fire in the order of their deadlines, and all see the new
/// time. ``run(for:on:)`` stops at each timer, so each timer sees its own time and may schedule another timer. Use it
/// for sequences such as reconnecting after 1, 2, 4 and 8 seconds.
///
/// One clock may drive several loops. Any thread may call the clock's methods, but a task that runs on one of the loops
/// must not await them.
public final class VirtualClock: LoopClock {
    private struct State {
        var now: ContinuousClock.Instant
        var wakes: [@Sendable () -> Void] = []
        var settlings: [LoopSettling] = []
    }

    /// A wait for several loops visits each loop this many times. Later visits handle the work that one loop has
    /// submitted to another loop.
    private static let passesOverSeveralLoops = 8

    /// The time at which the clock began.
    public let start: ContinuousClock.Instant

    private let state: Mutex<State>

    /// Makes a stopped clock.
    ///
    /// - Parameter start: The clock's first time; the real time by default.
    public init(startingAt start: ContinuousClock.Instant = .now) {
        self.start = start
        state = Mutex(State(now: start))
    }

    /// The current time of the clock.
    public var now: ContinuousClock.Instant { state.withLock { $0.now } }

    /// The time since ``start``.
    public var elapsed: Duration { start.duration(to: now) }

    // MARK: Moving the time

    /// Moves the time forward and wakes the loops. The method returns before their timers have fired.
    ///
    /// - Parameter duration: The time to pass; a negative time has no effect.
    public func advance(by duration: Duration) { move { $0 + duration } }

    /// Sets the time and wakes the loops. The method returns before their timers have fired.
    ///
    /// - Parameter instant: The new time; a time in the past has no effect.
    public func advance(to instant: ContinuousClock.Instant) { move { _ in instant } }

    /// Lets `duration` pass, stops at each timer, and returns when the loops are idle.
    ///
    /// If a timer always schedules itself for the current time, this method never returns.
    ///
    /// - Parameters:
    ///   - duration: The time to pass in all.
    ///   - loops: The loops with the timers. They must use this clock.
    public func run(for duration: Duration, on loops: EventLoop...) async {
        let end = now + duration
        var next = await settle(loops)
        while let deadline = next, deadline <= end {
            advance(to: deadline)
            next = await settle(loops)
        }
        advance(to: end)
        await settle(loops)
    }

    /// Moves to the earliest timer of the loops, and returns when it has fired and the loops are idle.
    ///
    /// - Parameter loops: The loops with the timers. They must use this clock.
    /// - Returns: The time that passed; `nil` if there is no timer, so that no time passed.
    @discardableResult
    public func advanceToNextTimer(of loops: EventLoop...) async -> Duration? {
        guard let deadline = await settle(loops) else { return nil }
        let before = now
        advance(to: deadline)
        await settle(loops)
        return before.duration(to: deadline)
    }

    // MARK: Waiting for idle loops

    /// Waits until the loops are idle at the current time: all due timers have fired, all submitted work has run, and
    /// no stream is ready for reading or writing.
    ///
    /// The method does not wait for tasks on other executors or for other processes. If two sockets exchange more than
    /// some dozens of packets, it may return before they have finished. To wait for such work, await its effect, such
    /// as the arrival of a packet. A loop that was shut down is idle.
    ///
    /// - Parameter loops: The loops. They must use this clock.
    /// - Returns: The deadline of their next timer; `nil` without timers.
    @discardableResult
    public func settle(_ loops: EventLoop...) async -> ContinuousClock.Instant? { await settle(loops) }

    @discardableResult
    private func settle(_ loops: [EventLoop]) async -> ContinuousClock.Instant? {
        var earliest: ContinuousClock.Instant?
        for _ in 0..<(loops.count > 1 ? Self.passesOverSeveralLoops : 1) {
            earliest = nil
            for loop in loops {
                precondition(loop.clock as? VirtualClock === self, "\(loop.name) uses another clock")
                guard let deadline = await LoopSettling.wait(for: loop, by: self) else { continue }
                earliest = min(deadline, earliest ?? deadline)
            }
        }
        return earliest
    }

    /// Registers `settling`, which is notified when its loop is about to sleep. This method is called on that loop.
    func watch(_ settling: LoopSettling) { state.withLock { $0.settlings.append(settling) } }

    /// Removes `settling`, because its loop has ended.
    func forget(_ settling: LoopSettling) { state.withLock { $0.settlings.removeAll { $0 === settling } } }

    private func move(_ target: @Sendable (ContinuousClock.Instant) -> ContinuousClock.Instant) {
        let wakes = state.withLock { state in
            state.now = max(state.now, target(state.now))
            return state.wakes
        }
        for wake in wakes { wake() }
    }

    // MARK: Called by a loop

    /// Returns zero if the timer is due. Otherwise, returns `nil`, so that the loop sleeps until the clock wakes it,
    /// because real time has no effect on deadlines.
    ///
    /// - Parameter deadline: The deadline of the loop's next timer.
    /// - Returns: Zero or `nil`.
    public func sleepLimit(until deadline: ContinuousClock.Instant) -> Duration? {
        let (isDue, settled) = state.withLock { state -> (Bool, [LoopSettling]) in
            if deadline <= state.now { return (true, []) }
            // If no test waits for an idle loop, which is the usual case, the search below is skipped.
            if state.settlings.isEmpty { return (false, []) }
            let settled = state.settlings.filter(\.isOnLoop)
            state.settlings.removeAll(where: \.isOnLoop)
            return (false, settled)
        }
        for settling in settled { settling.loopSleeps(until: deadline) }
        return isDue ? .zero : nil
    }

    /// Calls `wake` after each change of the time.
    ///
    /// - Parameter wake: A closure that wakes one loop.
    public func attach(wake: @escaping @Sendable () -> Void) { state.withLock { $0.wakes.append(wake) } }
}
