import CHeap
import CourierCore
import CourierMQTT

/// What connected clients cost while nothing happens on them.
enum IdleClients {
    /// After so many seconds without traffic a client pings the broker.
    private static let keepAlive: UInt16 = 1

    /// The growth of the heap for each of so many clients of one process, when all have connected, published a message of
    /// QoS 1 and been idle for long enough to ping the broker, in bytes.
    static func heapBytesEach(_ count: Int, port: UInt16) async throws -> Int {
        // What the process makes once.
        let first = try await connected(count, port)
        let before = heapBytes
        var clients: [any CourierClient] = []
        clients.reserveCapacity(count)
        for number in 0..<count { clients.append(try await connected(number, port)) }
        // Time without traffic is what is measured; waiting for the event of the ping would need a listener, which an idle
        // client does not have.
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
