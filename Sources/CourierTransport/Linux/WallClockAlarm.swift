#if os(Linux)
    import CLinux

    /// Wakes a ``SuspendWatcher`` with a timer that the kernel ends when the wall clock is set. The kernel sets this clock
    /// when the machine resumes, so no polling is needed.
    final class WallClockAlarm: ResumeAlarm, Selectable {
        private let loop: EventLoop
        private let makeTimer: @Sendable () -> Int32
        private var interval = Duration.zero
        private var fired: (() -> Void)?
        private var timer: Int32?
        private var registration: Selector.Registration?

        /// Prepares an alarm. `makeTimer` returns the descriptor of a timer, or a negative error number; tests replace it.
        init(_ loop: EventLoop, makeTimer: @escaping @Sendable () -> Int32 = { courier_wall_timer() }) {
            self.loop = loop
            self.makeTimer = makeTimer
        }

        func start(interval: Duration, _ fired: @escaping () -> Void) throws(TransportError) {
            self.interval = interval
            self.fired = fired
            let timer = makeTimer()
            guard timer >= 0 else { throw TransportError.system(-timer, Self.problem) }
            self.timer = timer
            registration = try loop.selector.register(timer, reads: true, writes: false, self)
            let result = arm(timer)
            guard result == 0 else { throw TransportError.system(-result, Self.problem) }
        }

        func stop() {
            fired = nil
            if let registration { loop.selector.remove(registration) }
            registration = nil
            if let timer { Sockets.close(timer) }
            timer = nil
        }

        func ready(_ events: ReadyEvents) {
            guard let timer else { return }
            _ = courier_read_timer(timer)
            loop.selector.rearm(registration, .readable)
            // The timer is set before the clocks are read, so that a suspend between both steps ends the timer at once.
            _ = arm(timer)
            fired?()
        }

        private func arm(_ timer: Int32) -> Int32 {
            let (seconds, attoseconds) = interval.components
            return courier_arm_wall_timer(timer, seconds, attoseconds / 1_000_000_000)
        }

        private static let problem = "the timer that detects the end of a suspend could not be created"
    }

    extension SuspendWatcher {
        /// Starts a watcher whose alarm creates its timer with `makeTimer`, for tests.
        static func start(
            on loop: EventLoop, shortestSleep: Duration, checkInterval: Duration,
            readClocks: @escaping @Sendable () -> SuspendDetector.Reading,
            makeTimer: @escaping @Sendable () -> Int32, resumed: @escaping @Sendable (_ slept: Duration) -> Void
        ) -> SuspendWatcher {
            start(
                on: loop, shortestSleep: shortestSleep, checkInterval: checkInterval, readClocks: readClocks,
                makeAlarm: { WallClockAlarm($0, makeTimer: makeTimer) }, resumed: resumed)
        }
    }
#endif
