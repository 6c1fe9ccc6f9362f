extension RealBroker {
    /// Starts one that keeps its sessions and drops nothing by itself: no limit on what waits for a client or is in flight.
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
