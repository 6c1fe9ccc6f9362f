/// Reports on a loop that the machine was suspended. The report follows as soon as the machine runs again.
///
/// The clock of an ``EventLoop`` counts suspended time, but a sleeping loop waits by a clock that does not count it. So
/// the loop's timers are late after a suspend. This watcher also wakes the loop. The loop calls `resumed` first, and
/// then fires its due timers.
///
/// The platform's ``ResumeAlarm`` wakes the watcher. Linux reports a resume at once. On other platforms, or if the
/// kernel reports no resume, the watcher compares the clocks regularly.
///
/// If the clock is set without a suspend, nothing is reported. If a host suspends a virtual machine, the suspend is
/// detected only if the host adjusts the machine's clocks.
///
/// Safe to share: all state is constant, except state that only the loop uses.
package final class SuspendWatcher: @unchecked Sendable {
    /// The default minimum length of a reported suspend. A shorter suspend is not reported, because a connection does
    /// not notice it.
    package static let defaultShortestSleep = Duration.seconds(2)
    /// The default interval at which the clocks are compared if no event occurs.
    package static let defaultCheckInterval = Duration.seconds(60)

    /// The phases: `starting`, then `watching`. `failed` follows if the system provides no timer. `stopped` is final.
    private enum Phase { case starting, watching, failed, stopped }

    private let loop: EventLoop
    private let checkInterval: Duration
    private let readClocks: @Sendable () -> SuspendDetector.Reading
    private let makeAlarm: @Sendable (EventLoop) -> any ResumeAlarm
    private let resumed: @Sendable (_ slept: Duration) -> Void
    // Only the loop uses the following state.
    private var detector: SuspendDetector
    private var alarm: (any ResumeAlarm)?
    private var phase = Phase.starting

    /// Starts a watcher on `loop`, which keeps the watcher alive until ``stop()``. If the system provides no timer,
    /// nothing is reported; see ``tryAgain()``.
    ///
    /// - Parameters:
    ///   - loop: The loop that runs the watcher and the reports.
    ///   - shortestSleep: The minimum length of a reported suspend; by default 2 s.
    ///   - checkInterval: The interval at which the clocks are compared if no event occurs; by default 60 s.
    ///   - resumed: Called on the loop once after each suspend, with the length of the suspend.
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
        makeAlarm: @escaping @Sendable (EventLoop) -> any ResumeAlarm = { Platform.current.makeResumeAlarm(on: $0) },
        resumed: @escaping @Sendable (_ slept: Duration) -> Void
    ) -> SuspendWatcher {
        let watcher = SuspendWatcher(loop, shortestSleep, checkInterval, readClocks, makeAlarm, resumed)
        loop.execute { watcher.begin() }
        return watcher
    }

    private init(
        _ loop: EventLoop, _ shortestSleep: Duration, _ checkInterval: Duration,
        _ readClocks: @escaping @Sendable () -> SuspendDetector.Reading,
        _ makeAlarm: @escaping @Sendable (EventLoop) -> any ResumeAlarm,
        _ resumed: @escaping @Sendable (_ slept: Duration) -> Void
    ) {
        self.loop = loop
        self.checkInterval = max(.milliseconds(1), checkInterval)
        self.readClocks = readClocks
        self.makeAlarm = makeAlarm
        self.resumed = resumed
        detector = SuspendDetector(first: readClocks(), shortestSleep: shortestSleep)
    }

    /// Starts watching again if the start failed, because a descriptor may be free now. May be called from any thread.
    package func tryAgain() {
        if loop.isOnLoop { beginAgain() } else { loop.execute { self.beginAgain() } }
    }

    /// Stops watching. May be called from any thread. If it is called on the loop, no report follows after it returns.
    package func stop() {
        if loop.isOnLoop { end() } else { loop.execute { self.end() } }
    }

    // MARK: Called on the event loop

    private func begin() {
        guard phase == .starting else { return }
        phase = .watching
        loop.settle(self)
        let alarm = makeAlarm(loop)
        self.alarm = alarm
        do throws(TransportError) {
            try alarm.start(interval: checkInterval) { [weak self] in self?.compareClocks() }
        } catch {
            phase = .failed
            release()
        }
    }

    private func beginAgain() {
        guard phase == .failed else { return }
        phase = .starting
        _ = detector.read(readClocks())  // Ignores a sleep that happened before this call.
        begin()
    }

    private func compareClocks() {
        guard phase == .watching else { return }
        if let slept = detector.read(readClocks()) { resumed(slept) }
    }

    private func end() {
        guard phase != .stopped else { return }
        phase = .stopped
        release()
    }

    private func release() {
        alarm?.stop()
        alarm = nil
        loop.leave(self)
    }
}

extension SuspendWatcher: LoopResident {
    func loopWillShutDown() { end() }
}
