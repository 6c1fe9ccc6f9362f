import CLinux
import Glibc

/// Tells, on a loop, that the machine was suspended and is awake again, as soon as it is.
///
/// ``EventLoop`` goes by a clock that counts suspended time, but a sleeping loop waits by one that does not, so after
/// a suspend its timers are late. This watcher also wakes the loop, which then finds what is due; `resumed` is called
/// before the timers are.
///
/// A timer by the wall clock that ends when the clock is set is what wakes it: the kernel sets the clock when it
/// resumes, so nothing needs to be looked at meanwhile. The timer also ends by itself after `checkInterval`, for
/// kernels that do not say. When somebody only sets the clock, nothing is reported. The suspend of a virtual machine
/// by its host is seen only if the host tells the machine's clocks.
///
/// Safe to share: constant, but for what is touched on the loop only.
package final class SuspendWatcher: @unchecked Sendable {
    /// Sleeps shorter than this are not reported: a connection does not notice them.
    package static let defaultShortestSleep = Duration.seconds(2)
    /// How often the clocks are compared when nothing happens.
    package static let defaultCheckInterval = Duration.seconds(60)

    /// `starting → watching`, which ends in `failed` where the machine does not have the means; `stopped` is final.
    private enum Phase { case starting, watching, failed, stopped }

    private let loop: EventLoop
    private let checkInterval: Duration
    private let readClocks: @Sendable () -> SuspendDetector.Reading
    private let makeTimer: @Sendable () -> Int32
    private let resumed: @Sendable (_ slept: Duration) -> Void
    // Touched on the loop only.
    private var detector: SuspendDetector
    private var timer: Int32?
    private var registration: Selector.Registration?
    private var phase = Phase.starting

    /// Watches on `loop`, which keeps the watcher alive until ``stop()``. A machine without the means reports nothing; see
    /// ``tryAgain()``.
    ///
    /// - Parameters:
    ///   - loop: Where it watches and reports.
    ///   - shortestSleep: Shorter ones are not reported, 2 s by default.
    ///   - checkInterval: How often to compare the clocks without an occasion, 60 s by default.
    ///   - resumed: Told on the loop how long the machine slept, once for each sleep.
    /// - Returns: The watcher.
    package static func start(
        on loop: EventLoop, shortestSleep: Duration = defaultShortestSleep,
        checkInterval: Duration = defaultCheckInterval, resumed: @escaping @Sendable (_ slept: Duration) -> Void
    ) -> SuspendWatcher {
        start(
            on: loop, shortestSleep: shortestSleep, checkInterval: checkInterval,
            readClocks: { SystemClocks.reading() }, resumed: resumed)
    }

    static func start(
        on loop: EventLoop, shortestSleep: Duration, checkInterval: Duration,
        readClocks: @escaping @Sendable () -> SuspendDetector.Reading,
        makeTimer: @escaping @Sendable () -> Int32 = { courier_wall_timer() },
        resumed: @escaping @Sendable (_ slept: Duration) -> Void
    ) -> SuspendWatcher {
        let watcher = SuspendWatcher(loop, shortestSleep, checkInterval, readClocks, makeTimer, resumed)
        loop.execute { watcher.begin() }
        return watcher
    }

    private init(
        _ loop: EventLoop, _ shortestSleep: Duration, _ checkInterval: Duration,
        _ readClocks: @escaping @Sendable () -> SuspendDetector.Reading,
        _ makeTimer: @escaping @Sendable () -> Int32, _ resumed: @escaping @Sendable (_ slept: Duration) -> Void
    ) {
        self.loop = loop
        self.checkInterval = max(.milliseconds(1), checkInterval)
        self.readClocks = readClocks
        self.makeTimer = makeTimer
        self.resumed = resumed
        detector = SuspendDetector(first: readClocks(), shortestSleep: shortestSleep)
    }

    /// Watches from now on if it could not before: there may be a descriptor for it now. From any thread.
    package func tryAgain() {
        if loop.isOnLoop { beginAgain() } else { loop.execute { self.beginAgain() } }
    }

    /// Stops watching. From any thread; called on the loop, nothing is reported after it has returned.
    package func stop() {
        if loop.isOnLoop { end() } else { loop.execute { self.end() } }
    }

    // MARK: The loop's side

    private func begin() {
        guard phase == .starting else { return }
        phase = .watching
        loop.settle(self)
        let timer = makeTimer()
        guard timer >= 0 else { return fail() }
        self.timer = timer
        do throws(TransportError) {
            registration = try loop.selector.register(timer, reads: true, writes: false, self)
            arm(timer)
        } catch {
            fail()
        }
    }

    private func beginAgain() {
        guard phase == .failed else { return }
        phase = .starting
        _ = detector.read(readClocks())  // A sleep that nobody saw is no news any more.
        begin()
    }

    private func arm(_ timer: Int32) {
        let (seconds, attoseconds) = checkInterval.components
        if courier_arm_wall_timer(timer, seconds, attoseconds / 1_000_000_000) < 0 { fail() }
    }

    private func fail() {
        phase = .failed
        release()
    }

    private func end() {
        guard phase != .stopped else { return }
        phase = .stopped
        release()
    }

    private func release() {
        if let registration { loop.selector.remove(registration) }
        registration = nil
        if let timer { Glibc.close(timer) }
        timer = nil
        loop.leave(self)
    }
}

extension SuspendWatcher: Selectable {
    func ready(_ events: ReadyEvents) {
        guard phase == .watching, let timer else { return }
        _ = courier_read_timer(timer)
        // Armed before the clocks are read: a suspend in between ends the timer at once.
        arm(timer)
        if let slept = detector.read(readClocks()) { resumed(slept) }
    }
}

extension SuspendWatcher: LoopResident {
    func loopWillShutDown() { end() }
}
