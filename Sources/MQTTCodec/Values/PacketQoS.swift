/// A quality of service as it stands on the wire.
public enum PacketQoS: UInt8, BitwiseCopyable, CaseIterable, Comparable, Sendable {
    /// QoS 0: sent once and forgotten.
    case atMostOnce = 0
    /// QoS 1: sent until it is acknowledged.
    case atLeastOnce = 1
    /// QoS 2: handed over in two steps, so that it arrives once.
    case exactlyOnce = 2

    /// Orders qualities of service by what they promise.
    public static func < (lhs: Self, rhs: Self) -> Bool { lhs.rawValue < rhs.rawValue }
}

/// How a PUBLISH is delivered: its quality of service together with what that one needs.
///
/// A QoS 0 PUBLISH has neither a packet id nor a DUP flag ([MQTT-2.2.1-2], [MQTT-3.3.1-2]), and this type cannot
/// express one that has.
public enum Delivery: Hashable, Sendable {
    /// QoS 0.
    case atMostOnce
    /// QoS 1; `isDuplicate` is the DUP flag, set when the packet may have been sent before.
    case atLeastOnce(PacketID, isDuplicate: Bool)
    /// QoS 2; `isDuplicate` is the DUP flag, set when the packet may have been sent before.
    case exactlyOnce(PacketID, isDuplicate: Bool)

    /// Makes the delivery of `qos`, or `nil` when `qos` needs a packet id and there is none.
    @inlinable
    public init?(qos: PacketQoS, packetID: PacketID?, isDuplicate: Bool = false) {
        switch (qos, packetID) {
        case (.atMostOnce, _): self = .atMostOnce
        case (.atLeastOnce, let id?): self = .atLeastOnce(id, isDuplicate: isDuplicate)
        case (.exactlyOnce, let id?): self = .exactlyOnce(id, isDuplicate: isDuplicate)
        case (.atLeastOnce, nil), (.exactlyOnce, nil): return nil
        }
    }

    /// The quality of service.
    @inlinable
    public var qos: PacketQoS {
        switch self {
        case .atMostOnce: .atMostOnce
        case .atLeastOnce: .atLeastOnce
        case .exactlyOnce: .exactlyOnce
        }
    }

    /// The packet id, which QoS 0 does not have.
    @inlinable
    public var packetID: PacketID? {
        switch self {
        case .atMostOnce: nil
        case .atLeastOnce(let id, _), .exactlyOnce(let id, _): id
        }
    }

    /// The DUP flag.
    @inlinable
    public var isDuplicate: Bool {
        switch self {
        case .atMostOnce: false
        case .atLeastOnce(_, let isDuplicate), .exactlyOnce(_, let isDuplicate): isDuplicate
        }
    }
}
