import CHeap
import CourierCore
import CourierMQTT

/// Measures the memory of connected clients that are idle.
enum IdleClients {
    /// The number of seconds without traffic after which a client sends a PINGREQ.
    private static let keepAlive: UInt16 = 1

    /// Returns the heap memory of each of `count` clients in this process, in bytes. Each client has connected,
    /// published one QoS 1 message, and been idle for long enough to send a PINGREQ.
    static func heapBytesEach(_ count: Int, port: UInt16) async throws -> Int {
        // The first client allocates the memory that all clients of the process share.
        let first = try await connected(count, port)
        let before = heapBytes
        var clients: [any CourierClient] = []
        clients.reserveCapacity(count)
        for number in 0..<count { clients.append(try await connected(number, port)) }
        // The measurement needs time without traffic. Waiting for a ping event would need an event handler, which an
        // idle client does not have.
        try await Task.sleep(for: .seconds(Int(keepAlive) * 2 + 1))
        let after = heapBytes
        for client in clients + [first] { await client.disconnectAndWait() }
        return (after - before) / count
    }

    private static func connected(_ number: Int, _ port: UInt16) async throws -> any CourierClient {
        var config = MQTTClientConfig(
            options: ConnectOptions(
                host: "127.0.0.1", port: port, keepAlive: keepAlive, clientId: "idle-\(number)", username: "",
                password: "", isCleanSession: true))
        config.protocolVersion = .version311
        let client = CourierClientFactory().makeMQTTClient(config: config)
        client.connect()
        try await client.connected()
        try await client.publish([UInt8](repeating: 0, count: 64), to: "bench/idle", qos: .one)
        return client
    }

    private static var heapBytes: Int { Int(heap_bytes_in_use()) }
}
