/// Wakes a ``SuspendWatcher`` at short intervals, because POSIX reports no resume.
final class IntervalAlarm: ResumeAlarm {
    /// The maximum interval between two wake-ups. So a resume is detected at most this much later.
    static let longestInterval = Duration.seconds(15)

    private let loop: EventLoop
    private var interval = Duration.zero
    private var timer: TimerToken?
    private var fired: (() -> Void)?

    init(_ loop: EventLoop) { self.loop = loop }

    func start(interval: Duration, _ fired: @escaping () -> Void) {
        self.interval = min(interval, Self.longestInterval)
        self.fired = fired
        arm()
    }

    func stop() {
        fired = nil
        if let timer { loop.cancel(timer) }
        timer = nil
    }

    private func arm() {
        timer = loop.schedule(at: loop.clock.now + interval) { [weak self] in
            guard let self else { return }
            arm()
            fired?()
        }
    }
}
