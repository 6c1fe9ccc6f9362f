extension RealBroker {
    /// Starts a broker that stores its sessions and has no limits for queued messages and messages in flight, so it
    /// drops none.
    package static func boundless() async throws -> RealBroker {
        try await RealBroker(
            persists: true,
            settings: """
                max_queued_bytes 0
                max_inflight_messages 0
                max_inflight_bytes 0
                set_tcp_nodelay true
                """)
    }
}
