extension Liveness {
    /// The time when a byte was last sent or received, or when the connection began.
    var lastActivity: Instant { [start, lastInbound, lastOutbound].compactMap(\.self).max() ?? start }

    /// The idle time since bytes were last received. If bytes were sent after that, the idle time ends when the first
    /// of these bytes were sent; otherwise it lasts until `now`.
    func silence(now: Instant) -> KeepAliveSearch.Silence {
        let begin = lastInbound ?? start
        return KeepAliveSearch.Silence(start: begin, duration: begin.duration(to: unansweredSince ?? now))
    }
}
