public import CourierTransport
import Synchronization

/// Time that passes only when a test says so, for the timers of event loops.
///
/// ```swift
/// let clock = VirtualClock()
/// let loop = try EventLoop(clock: clock)
/// connect(on: loop)                                     // gives up after 30 s
/// await clock.run(for: .seconds(29), on: loop)          // not yet
/// let wait = await clock.advanceToNextTimer(of: loop)   // now; `wait` is 1 s
/// ```
///
/// ``advance(by:)`` jumps: all timers on the way fire, in their order, at the moment where the jump ends.
/// ``run(for:on:)`` stops at each timer, so that one which schedules another finds the time it expects; use it for
/// sequences such as reconnecting at 1, 2, 4 and 8 seconds.
///
/// One clock may drive several loops. Any thread may call it, but ``settle(_:)`` and what is built on it are not to be
/// awaited by a task that runs on one of the loops.
public final class VirtualClock: LoopClock {
    private struct State {
        var now: ContinuousClock.Instant
        var wakes: [@Sendable () -> Void] = []
        var settlings: [LoopSettling] = []
    }

    /// How often several loops are looked at in turn, so that what one hands to another is done as well.
    private static let passesOverSeveralLoops = 8

    /// The moment at which the clock began.
    public let start: ContinuousClock.Instant

    private let state: Mutex<State>

    /// Makes a clock that stands still.
    ///
    /// - Parameter start: Where it stands; the real present by default.
    public init(startingAt start: ContinuousClock.Instant = .now) {
        self.start = start
        state = Mutex(State(now: start))
    }

    /// The present moment.
    public var now: ContinuousClock.Instant { state.withLock { $0.now } }

    /// How much time has passed since ``start``.
    public var elapsed: Duration { start.duration(to: now) }

    // MARK: Moving

    /// Lets `duration` pass at once and wakes the loops; returns before their timers have fired.
    ///
    /// - Parameter duration: How much; a negative one does nothing.
    public func advance(by duration: Duration) { move { $0 + duration } }

    /// Goes to `instant` at once and wakes the loops; returns before their timers have fired.
    ///
    /// - Parameter instant: Where to; the past does nothing.
    public func advance(to instant: ContinuousClock.Instant) { move { _ in instant } }

    /// Lets `duration` pass, stopping at each timer, and returns when the loops have settled.
    ///
    /// A timer that schedules itself again for the present moment makes it stop there for ever.
    ///
    /// - Parameters:
    ///   - duration: How much time passes in all.
    ///   - loops: Whose timers to stop at; their clock is this one.
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

    /// Goes to the earliest timer of the loops, and returns when it has fired and the loops have settled.
    ///
    /// - Parameter loops: Whose timers; their clock is this one.
    /// - Returns: How much time passed, or `nil` when there is no timer and the clock stands where it stood.
    @discardableResult
    public func advanceToNextTimer(of loops: EventLoop...) async -> Duration? {
        guard let deadline = await settle(loops) else { return nil }
        let before = now
        advance(to: deadline)
        await settle(loops)
        return before.duration(to: deadline)
    }

    // MARK: Waiting

    /// Returns when the loops have nothing left to do before time passes: due timers have fired, handed-over work has
    /// run, also work that came out of work, and streams that could be read or written have been.
    ///
    /// What continues elsewhere is not waited for: tasks on other executors, other processes, and more than
    /// some dozens of exchanges between two sockets. Await for those what they are to do, such as the arrival of a packet.
    /// A loop that has been shut down counts as settled.
    ///
    /// - Parameter loops: The loops; their clock is this one.
    /// - Returns: When their next timer is due, or `nil` without timers.
    @discardableResult
    public func settle(_ loops: EventLoop...) async -> ContinuousClock.Instant? { await settle(loops) }

    @discardableResult
    private func settle(_ loops: [EventLoop]) async -> ContinuousClock.Instant? {
        var earliest: ContinuousClock.Instant?
        for _ in 0..<(loops.count > 1 ? Self.passesOverSeveralLoops : 1) {
            earliest = nil
            for loop in loops {
                precondition(loop.clock as? VirtualClock === self, "\(loop.name) goes by another clock")
                guard let deadline = await LoopSettling.wait(for: loop, by: self) else { continue }
                earliest = min(deadline, earliest ?? deadline)
            }
        }
        return earliest
    }

    /// Has `settling` told when its loop is about to sleep. On that loop.
    func watch(_ settling: LoopSettling) { state.withLock { $0.settlings.append(settling) } }

    /// Its loop has ended.
    func forget(_ settling: LoopSettling) { state.withLock { $0.settlings.removeAll { $0 === settling } } }

    private func move(_ target: @Sendable (ContinuousClock.Instant) -> ContinuousClock.Instant) {
        let wakes = state.withLock { state in
            state.now = max(state.now, target(state.now))
            return state.wakes
        }
        for wake in wakes { wake() }
    }

    // MARK: What a loop asks

    /// Zero for what is due, otherwise until the loop is woken: real time does not bring a deadline nearer.
    ///
    /// - Parameter deadline: When the loop's next timer is due.
    /// - Returns: Zero or `nil`.
    public func sleepLimit(until deadline: ContinuousClock.Instant) -> Duration? {
        let (isDue, settled) = state.withLock { state -> (Bool, [LoopSettling]) in
            if deadline <= state.now { return (true, []) }
            // Nearly always nobody waits.
            if state.settlings.isEmpty { return (false, []) }
            let settled = state.settlings.filter(\.isOnLoop)
            state.settlings.removeAll(where: \.isOnLoop)
            return (false, settled)
        }
        for settling in settled { settling.loopSleeps(until: deadline) }
        return isDue ? .zero : nil
    }

    /// Keeps `wake`, to be called after each move.
    ///
    /// - Parameter wake: Wakes one loop.
    public func attach(wake: @escaping @Sendable () -> Void) { state.withLock { $0.wakes.append(wake) } }
}
