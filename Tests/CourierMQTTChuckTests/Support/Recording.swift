import CourierCore
import Foundation
import MQTTCodec
import TestSupport
import Testing

@testable import CourierMQTTChuck

/// Sends the packets of one connection to a logger, at times that the test chooses.
struct Recording {
    let logger: MQTTChuckLogger
    let connection: ObservedConnection
    let version: MQTTCodec.ProtocolVersion

    private static let zero = ContinuousClock.now

    /// 2026-01-31 12:00:00 UTC, when all connections of a test are opened.
    static let opened = Date(timeIntervalSince1970: 1_769_860_800)

    init(
        _ logger: MQTTChuckLogger, id: UInt64 = 1, client: String = "phone-7", version: MQTTCodec.ProtocolVersion = .v5,
        host: String = "broker.example.com", password: String = "hunter2-secret", scheme: String? = "tls",
        clientNumber: UInt64? = nil
    ) {
        self.logger = logger
        self.version = version
        let observed: ObservedConnection.ProtocolVersion =
            switch version {
            case .v31: .v31
            case .v311: .v311
            case .v5: .v5
            }
        connection = ObservedConnection(
            id: id,
            options: ConnectOptions(
                host: host, port: 8883, keepAlive: 30, clientId: client, username: "ada", password: password,
                userProperties: ["token": password], alpn: ["mqtt"], scheme: scheme),
            protocolVersion: observed, openedAt: Self.opened, openedInstant: Self.zero, clientNumber: clientNumber)
    }

    /// Records CONNECT and a successful CONNACK.
    func connect() throws {
        try send(.connect(Connect(version: version, clientID: connection.options.clientId)))
        try receive(.connAck(ConnAck()))
    }

    /// The client writes packets in one write.
    func send(_ packets: Packet..., at milliseconds: Int = 0) throws {
        try observe(.outgoing, packets, at: milliseconds)
    }

    /// The client reads packets in one read.
    func receive(_ packets: Packet..., at milliseconds: Int = 0) throws {
        try observe(.incoming, packets, at: milliseconds)
    }

    func observe(_ direction: PacketBatch.Direction, _ packets: [Packet], at milliseconds: Int = 0) throws {
        observe(direction, bytes: try Self.encode(packets, version, direction), at: milliseconds)
    }

    func observe(_ direction: PacketBatch.Direction, bytes: [UInt8], at milliseconds: Int = 0) {
        logger.observed(
            PacketBatch(
                direction: direction, bytes: bytes, time: Self.zero + .milliseconds(milliseconds),
                connection: connection))
    }

    static func encode(
        _ packets: [Packet], _ version: MQTTCodec.ProtocolVersion, _ direction: PacketBatch.Direction
    ) throws -> [UInt8] {
        try packets.flatMap { try TestSupport.encode($0, version, from: direction == .outgoing ? .client : .server) }
    }

    /// A message.
    static func message(
        _ topic: String, _ text: String = "x", id: PacketID? = nil, qos: PacketQoS = .atMostOnce,
        isDuplicate: Bool = false,
        properties: PacketProperties = []
    ) throws -> Packet {
        let delivery = try #require(Delivery(qos: qos, packetID: id, isDuplicate: isDuplicate))
        return .publish(
            Publish(topic: topic, payload: Array(text.utf8), delivery: delivery, properties: properties))
    }

    /// A session with a packet of every type of the version, in both directions if both are allowed. The time between
    /// two packets is 10 ms.
    func everything() throws {
        let is5 = version >= .v5
        let text = "€ 42"
        var time = 0
        func next(_ direction: PacketBatch.Direction, _ packet: Packet) throws {
            try observe(direction, [packet], at: time)
            time += 10
        }
        let method: PacketProperties = [
            .authenticationMethod("SCRAM"), .authenticationData(SecretBytes("auth-secret")),
        ]
        try next(
            .outgoing,
            .connect(
                Connect(
                    version: version, clientID: "phone-7", isCleanStart: false, keepAlive: 30, username: "ada",
                    password: SecretBytes("hunter2-secret"),
                    will: Connect.Will(
                        topic: "will/phone-7", payload: Array("gone".utf8), qos: .atLeastOnce,
                        properties: is5 ? [.willDelayInterval(5)] : []),
                    properties: is5
                        ? PacketProperties(
                            method.list + [
                                .sessionExpiryInterval(60), .userProperty(name: "x-auth-Token", value: "tok-secret-1"),
                                .userProperty(name: "region", value: "eu"),
                            ]) : [])))
        if is5 {
            try next(.incoming, .auth(Auth(reasonCode: .continueAuthentication, properties: method)))
            try next(.outgoing, .auth(Auth(reasonCode: .continueAuthentication, properties: method)))
        }
        try next(
            .incoming,
            .connAck(
                ConnAck(properties: is5 ? [.serverKeepAlive(25), .topicAliasMaximum(10)] + method.list.first(1) : [])))
        try next(
            .outgoing,
            .subscribe(
                Subscribe(
                    packetID: 1,
                    subscriptions: [
                        Subscription("orders/#", qos: .exactlyOnce), Subscription("x/+", qos: .atLeastOnce),
                    ],
                    properties: is5 ? [.subscriptionIdentifier(7)] : [])))
        try next(.incoming, .subAck(SubAck(packetID: 1, reasonCodes: [.grantedQoS2, .unspecifiedError])))
        try next(.outgoing, Recording.message("orders/0", text))
        try next(
            .outgoing,
            Recording.message(
                "orders/1", "{\"b\":1,\"a\":[true]}", id: 2, qos: .atLeastOnce,
                properties: is5 ? [.contentType("application/json"), .topicAlias(3)] : []))
        try next(
            .incoming,
            .pubAck(Acknowledgement(packetID: 2, reasonCode: is5 ? .noMatchingSubscribers : .success)))
        try next(
            .outgoing,
            Recording.message(
                is5 ? "" : "orders/1", text, id: 3, qos: .exactlyOnce, properties: is5 ? [.topicAlias(3)] : []))
        try next(.incoming, .pubRec(Acknowledgement(packetID: 3)))
        try next(.outgoing, .pubRel(Acknowledgement(packetID: 3)))
        try next(.incoming, .pubComp(Acknowledgement(packetID: 3)))
        try next(.incoming, Recording.message("orders/5", String(repeating: "long ", count: 1_000)))
        try next(.incoming, Recording.message("orders/6", text, id: 9, qos: .atLeastOnce))
        try next(.outgoing, .pubAck(Acknowledgement(packetID: 9)))
        try next(.incoming, Recording.message("orders/7", text, id: 10, qos: .exactlyOnce))
        try next(.outgoing, .pubRec(Acknowledgement(packetID: 10)))
        try next(.incoming, .pubRel(Acknowledgement(packetID: 10)))
        try next(.outgoing, .pubComp(Acknowledgement(packetID: 10)))
        try next(.outgoing, .pingReq)
        try next(.incoming, .pingResp)
        try next(.outgoing, .unsubscribe(Unsubscribe(packetID: 4, filters: ["orders/#", "x/+"])))
        try next(
            .incoming, .unsubAck(UnsubAck(packetID: 4, reasonCodes: is5 ? [.success, .noSubscriptionExisted] : [])))
        if is5 { try next(.incoming, .disconnect(Disconnect(reasonCode: .serverShuttingDown))) }
        if !is5 { try next(.outgoing, .disconnect(Disconnect())) }
    }
}

extension MQTTChuckLogger {
    /// A logger whose clock always shows the time at which the connections of a test are opened.
    static func test(_ options: MQTTChuckOptions = MQTTChuckOptions()) -> MQTTChuckLogger {
        MQTTChuckLogger(options: options) { Nanoseconds.since1970(Recording.opened) }
    }
}

extension Array where Element == Property {
    /// The first `count` properties.
    func first(_ count: Int) -> [Property] { Array(prefix(count)) }
}

extension PacketProperties {
    static func + (left: PacketProperties, right: [Property]) -> PacketProperties {
        PacketProperties(left.list + right)
    }
}
