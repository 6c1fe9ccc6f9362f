import CourierMQTT
import CourierMQTTChuck
import CourierMQTTChuckSQLite
import Foundation

/// An order of a customer.
struct Order: Codable, Sendable {
    let number: Int
}

/// The invoice for an order.
struct Invoice: Codable, Sendable {
    let order: Int
    let cents: Int
}

/// A client that sends trace contexts, and records its packets in an archive.
struct TracedClient {
    let client: any CourierClient
    private let archive: MQTTChuckArchive

    init(named name: String, archive path: String, port: UInt16) throws {
        let logger = MQTTChuckLogger()
        archive = try MQTTChuckArchive(of: logger, at: URL(filePath: path))
        var config = MQTTClientConfig(
            options: ConnectOptions(
                host: "127.0.0.1", port: port, clientId: name, username: "", password: "", isCleanSession: true))
        config.packetObserver = logger
        config.deliveryQueue = DispatchQueue(label: name)
        // Each received message begins a new span of its trace.
        config.environment.tracing = MessageTracing(received: { context, _ in context.child() })
        client = CourierClientFactory().makeMQTTClient(config: config)
    }

    /// Disconnects, and writes the last packets to the archive.
    func end() async {
        await client.disconnectAndWait()
        await archive.close()
    }
}
