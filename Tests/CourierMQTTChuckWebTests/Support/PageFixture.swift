import CourierCore
import CourierMQTTChuck
import Foundation
import MQTTCodec
import TestSupport
import Testing

@testable import CourierMQTTChuckWeb

/// A logger with its inspector page, and one connection whose packets it records.
struct PageFixture {
    let logger: MQTTChuckLogger
    let server: MQTTChuckServer
    let connection: ObservedConnection

    var token: String { server.url.path.replacingOccurrences(of: "/", with: "") }

    static let password = "hunter2-secret"

    init(
        _ options: MQTTChuckOptions = MQTTChuckOptions(), limits: ServerLimits = ServerLimits(),
        client: String = "phone-7", clientMetrics: @escaping @Sendable () -> [String: ClientMetrics] = { [:] },
        parkedMessages: @escaping @Sendable () -> [String: any ParkedMessages] = { [:] }
    ) throws {
        logger = MQTTChuckLogger(options: options)
        server = try logger.serve(
            port: LocalPort.free(), limits: limits, clientMetrics: clientMetrics, parkedMessages: parkedMessages)
        connection = ObservedConnection(
            id: 1,
            options: ConnectOptions(
                host: "broker.example.com", port: 8883, keepAlive: 30, clientId: client, username: "ada",
                password: Self.password, userProperties: ["token": Self.password], scheme: "tls"),
            protocolVersion: .v5, openedAt: Date(), openedInstant: .now)
    }

    func observe(_ direction: PacketBatch.Direction, _ packets: Packet...) throws {
        let bytes = try packets.flatMap {
            try TestSupport.encode($0, .v5, from: direction == .outgoing ? .client : .server)
        }
        logger.observed(PacketBatch(direction: direction, bytes: bytes, time: .now, connection: connection))
    }

    /// Records a message from the broker.
    func receive(_ topic: String, _ payload: some Sequence<UInt8>) throws {
        let delivery = try #require(Delivery(qos: .atMostOnce, packetID: nil, isDuplicate: false))
        try observe(.incoming, .publish(Publish(topic: topic, payload: Array(payload), delivery: delivery)))
    }

    /// Records a CONNECT with secrets, a CONNACK and the four packets of a QoS 2 publish: rows 1 to 6.
    func session() throws {
        try observe(
            .outgoing,
            .connect(
                Connect(
                    version: .v5, clientID: connection.options.clientId, keepAlive: 30, username: "ada",
                    password: SecretBytes(Self.password),
                    properties: [.userProperty(name: "x-token", value: Self.password)])))
        try observe(.incoming, .connAck(ConnAck()))
        let delivery = try #require(Delivery(qos: .exactlyOnce, packetID: 3, isDuplicate: false))
        let order = Publish(topic: "orders/1", payload: Array(#"{"b":1,"a":[true]}"#.utf8), delivery: delivery)
        try observe(.outgoing, .publish(order))
        try observe(.incoming, .pubRec(Acknowledgement(packetID: 3)))
        try observe(.outgoing, .pubRel(Acknowledgement(packetID: 3)))
        try observe(.incoming, .pubComp(Acknowledgement(packetID: 3)))
    }

    /// Sends a request as a browser does. A test can change each part of it.
    func request(
        _ path: String, method: String = "GET", token: String? = nil, host: String? = nil,
        headers: [String] = [], body: String = ""
    ) async throws -> HTTPReply {
        let target = "/\(token ?? self.token)/\(path)"
        return try await request(target: target, method: method, host: host, headers: headers, body: body)
    }

    func request(
        target: String, method: String = "GET", host: String? = nil, headers: [String] = [], body: String = ""
    ) async throws -> HTTPReply {
        let port = server.port
        var lines = ["\(method) \(target) HTTP/1.1", "Host: \(host ?? "127.0.0.1:\(port)")", "Connection: close"]
        if !body.isEmpty { lines.append("Content-Length: \(body.utf8.count)") }
        lines += headers
        let text = lines.joined(separator: "\r\n") + "\r\n\r\n" + body
        return try await onThread {
            let connection = try RawHTTP(port: port)
            try connection.send(text)
            var all: [UInt8] = []
            while case let part = try connection.read(), !part.isEmpty { all += part }
            return try HTTPReply(all)
        }
    }

    /// The head of a request without its empty line at the end.
    func head(_ path: String) -> String { "GET /\(token)/\(path) HTTP/1.1\r\nHost: 127.0.0.1:\(server.port)\r\n" }
}
