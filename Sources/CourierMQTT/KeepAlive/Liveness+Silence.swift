extension Liveness {
    /// The time when a byte was last sent or received, or when the connection began.
    var lastActivity: Instant { [start, lastInbound, lastOutbound].compactMap(\.self).max() ?? start }

    /// The present idle time, or the idle time before the first packet that has no answer yet.
    func silence(now: Instant) -> KeepAliveSearch.Silence {
        let begin = lastInbound ?? start
        return KeepAliveSearch.Silence(start: begin, duration: begin.duration(to: unansweredSince ?? now))
    }
}
