import Synchronization

extension EventLoop {
    /// Returns the time of ``clock`` in nanoseconds since the start of the clock. May be called from any thread.
    ///
    /// While the loop is busy, the result is the time when the current round of the loop began, because reading the
    /// clock for each message takes too long. So the result may be one round too early.
    @inline(__always)
    package var recentTime: Int64 {
        let time = roundStart.load(ordering: .relaxed)
        return time == 0 ? exactTime() : time
    }

    /// Returns the time of ``clock`` in nanoseconds since the start of the clock. The function is not inlined, so that
    /// callers need no memory for the clock's type.
    @inline(never)
    private func exactTime() -> Int64 { Self.nanoseconds(clock.now) }

    private static func nanoseconds(_ time: ContinuousClock.Instant) -> Int64 {
        let (seconds, attoseconds) = ContinuousClock().systemEpoch.duration(to: time).components
        return seconds * 1_000_000_000 + attoseconds / 1_000_000_000
    }

    /// Begins a round: reads the clock.
    func beginRound() {
        currentTime = clock.now
        roundStart.store(Self.nanoseconds(currentTime), ordering: .relaxed)
    }
}
