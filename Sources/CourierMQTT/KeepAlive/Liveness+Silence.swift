extension Liveness {
    /// The time when a byte was last sent or received, or when the connection began.
    var lastActivity: Instant { [start, lastInbound, lastOutbound].compactMap(\.self).max() ?? start }

    /// Returns the idle time that began when bytes were last received. If the client sent bytes afterward, the idle
    /// time ended when the client sent the first of them. Otherwise, the idle time lasts until `now`.
    func silence(now: Instant) -> KeepAliveSearch.Silence {
        let begin = lastInbound ?? start
        return KeepAliveSearch.Silence(start: begin, duration: begin.duration(to: unansweredSince ?? now))
    }
}
