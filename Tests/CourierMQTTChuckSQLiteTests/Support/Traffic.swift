import CourierCore
import CourierMQTTChuck
import Foundation
import MQTTCodec
import TestSupport

/// Sends the packets of one connection to a logger, 10 ms apart.
final class Traffic {
    static let password = "hunter2-secret"
    static let token = "tok-secret-1"

    let logger: MQTTChuckLogger
    private let connection: ObservedConnection
    private let opened: ContinuousClock.Instant
    private var time = Duration.zero

    init(_ logger: MQTTChuckLogger, id: UInt64 = 1, client: String = "phone-7", openedAt: Date = Date()) {
        self.logger = logger
        opened = .now
        connection = ObservedConnection(
            id: id,
            options: ConnectOptions(
                host: "broker.example.com", port: 8883, keepAlive: 30, clientId: client, username: "ada",
                password: Self.password, userProperties: ["token": Self.token], alpn: ["mqtt"], scheme: "tls"),
            protocolVersion: .v5, openedAt: openedAt, openedInstant: opened)
    }

    func observe(_ direction: PacketBatch.Direction, _ packets: Packet...) throws {
        let sender: Endpoint = direction == .outgoing ? .client : .server
        let bytes = try packets.flatMap { try TestSupport.encode($0, .v5, from: sender) }
        time += .milliseconds(10)
        logger.observed(
            PacketBatch(direction: direction, bytes: bytes, time: opened + time, connection: connection))
    }

    /// Records a CONNECT with secrets and a CONNACK.
    func connect() throws {
        try observe(
            .outgoing,
            .connect(
                Connect(
                    version: .v5, clientID: "phone-7", username: "ada", password: SecretBytes(Self.password),
                    properties: [.userProperty(name: "token", value: Self.token)])))
        try observe(.incoming, .connAck(ConnAck()))
    }

    /// Records four packets: a QoS 1 message, its PUBACK, a message with topic and alias, and one with only the alias.
    func exchange(_ number: Int) throws {
        let id = PacketID(rawValue: UInt16(truncatingIfNeeded: number % 60_000 + 1))
        let delivery = Delivery(qos: .atLeastOnce, packetID: id, isDuplicate: false) ?? .atMostOnce
        try observe(.outgoing, .publish(Publish(topic: "orders/\(number)", payload: [1, 2, 3], delivery: delivery)))
        if let id { try observe(.incoming, .pubAck(Acknowledgement(packetID: id, reasonCode: .noMatchingSubscribers))) }
        try observe(
            .incoming, .publish(Publish(topic: "news", payload: Array("€".utf8), properties: [.topicAlias(3)])),
            .publish(Publish(topic: "", payload: Array("more".utf8), properties: [.topicAlias(3)])))
    }

    /// Records a message that is larger than the part of a packet that a logger keeps.
    func huge() throws {
        try observe(.incoming, .publish(Publish(topic: "huge", payload: [UInt8](repeating: 7, count: 200_000))))
    }
}
