import Synchronization

extension EventLoop {
    /// The time of ``clock`` when the loop's last round began, in nanoseconds since the start of the clock. May be read
    /// on any thread. While the loop sleeps, this time can be long ago.
    ///
    /// Reading this value costs much less than reading the clock.
    @inline(__always)
    package var lastRoundTime: Int64 { roundStart.load(ordering: .relaxed) }

    private static func nanoseconds(_ time: ContinuousClock.Instant) -> Int64 {
        let (seconds, attoseconds) = ContinuousClock().systemEpoch.duration(to: time).components
        return seconds * 1_000_000_000 + attoseconds / 1_000_000_000
    }

    func beginRound() {
        currentTime = clock.now
        roundStart.store(Self.nanoseconds(currentTime), ordering: .relaxed)
    }
}
