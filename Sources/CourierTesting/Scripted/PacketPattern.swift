public import MQTTCodec

/// Describes a packet of the client that a script or a test waits for.
///
/// ```swift
/// .expect(.publish)
/// .expect(.publish(to: "orders/7", isDuplicate: true))
/// .expect(PacketPattern(.connect, "CONNECT with a will") { … })
/// ```
public struct PacketPattern: Sendable, CustomStringConvertible {
    /// The type of the packet; `nil` for any.
    public let type: PacketType?

    /// The name of the pattern in messages.
    public let description: String

    private let condition: @Sendable (Packet) -> Bool

    /// Makes a pattern.
    ///
    /// - Parameters:
    ///   - type: The type of the packet; `nil` for any.
    ///   - description: The pattern's name in messages; the type's name by default.
    ///   - condition: A further condition; none by default. It is called on the broker's loop and must not block.
    public init(
        _ type: PacketType?, _ description: String? = nil,
        where condition: @escaping @Sendable (Packet) -> Bool = { _ in true }
    ) {
        self.type = type
        self.description = description ?? type?.description ?? "any packet"
        self.condition = condition
    }

    /// Whether `packet` matches.
    ///
    /// - Parameter packet: Any packet.
    /// - Returns: `true` if the packet has the type and meets the condition.
    public func matches(_ packet: Packet) -> Bool { (type == nil || type == packet.type) && condition(packet) }
}

extension PacketPattern {
    /// Any packet.
    public static let any = PacketPattern(nil)
    /// CONNECT.
    public static let connect = PacketPattern(.connect)
    /// PUBLISH.
    public static let publish = PacketPattern(.publish)
    /// PUBACK.
    public static let pubAck = PacketPattern(.pubAck)
    /// PUBREC.
    public static let pubRec = PacketPattern(.pubRec)
    /// PUBREL.
    public static let pubRel = PacketPattern(.pubRel)
    /// PUBCOMP.
    public static let pubComp = PacketPattern(.pubComp)
    /// SUBSCRIBE.
    public static let subscribe = PacketPattern(.subscribe)
    /// UNSUBSCRIBE.
    public static let unsubscribe = PacketPattern(.unsubscribe)
    /// PINGREQ.
    public static let pingReq = PacketPattern(.pingReq)
    /// DISCONNECT.
    public static let disconnect = PacketPattern(.disconnect)
    /// AUTH.
    public static let auth = PacketPattern(.auth)

    /// A CONNECT with these fields. A field that is `nil` may have any value.
    ///
    /// - Parameters:
    ///   - version: The version of MQTT.
    ///   - clientID: The client identifier.
    ///   - isCleanStart: The flag "clean start"; before MQTT 5, it is called "clean session".
    /// - Returns: The pattern.
    public static func connect(
        version: ProtocolVersion? = nil, clientID: String? = nil, isCleanStart: Bool? = nil
    ) -> PacketPattern {
        let words = [
            version.map { "version \($0)" }, clientID.map { "client id \($0)" },
            isCleanStart.map { "clean start \($0)" },
        ]
        return PacketPattern(.connect, name("CONNECT", words)) { packet in
            guard case .connect(let connect) = packet else { return false }
            return (version ?? connect.version) == connect.version && (clientID ?? connect.clientID) == connect.clientID
                && (isCleanStart ?? connect.isCleanStart) == connect.isCleanStart
        }
    }

    /// A PUBLISH with these fields. A field that is `nil` may have any value.
    ///
    /// - Parameters:
    ///   - topic: The topic name.
    ///   - qos: The quality of service.
    ///   - isDuplicate: The DUP flag.
    /// - Returns: The pattern.
    public static func publish(
        to topic: String? = nil, qos: PacketQoS? = nil, isDuplicate: Bool? = nil
    ) -> PacketPattern {
        let words = [topic.map { "to \($0)" }, qos.map { "QoS \($0.rawValue)" }, isDuplicate.map { "DUP \($0)" }]
        return PacketPattern(.publish, name("PUBLISH", words)) { packet in
            guard case .publish(let publish) = packet else { return false }
            return (topic ?? publish.topic) == publish.topic && (qos ?? publish.delivery.qos) == publish.delivery.qos
                && (isDuplicate ?? publish.delivery.isDuplicate) == publish.delivery.isDuplicate
        }
    }

    private static func name(_ type: String, _ words: [String?]) -> String {
        let words = words.compactMap(\.self)
        return words.isEmpty ? type : "\(type) (\(words.joined(separator: ", ")))"
    }
}
