/// A quality of service (QoS). The raw value is the number on the wire.
public enum PacketQoS: UInt8, BitwiseCopyable, CaseIterable, Comparable, Sendable {
    /// QoS 0: the message is sent once and is not acknowledged.
    case atMostOnce = 0
    /// QoS 1: the message is sent until it is acknowledged, so it may arrive more than once.
    case atLeastOnce = 1
    /// QoS 2: a two-step acknowledgement ensures that the message arrives exactly once.
    case exactlyOnce = 2

    /// Orders QoS levels by their number.
    public static func < (lhs: Self, rhs: Self) -> Bool { lhs.rawValue < rhs.rawValue }
}

/// The QoS of a PUBLISH, with the packet id and the DUP flag that QoS 1 and 2 need.
///
/// A QoS 0 PUBLISH has no packet id and no DUP flag ([MQTT-2.2.1-2], [MQTT-3.3.1-2]), so the QoS 0 case stores neither.
public enum Delivery: Hashable, Sendable {
    /// QoS 0.
    case atMostOnce
    /// QoS 1. `isDuplicate` is the DUP flag: true if the packet may have been sent before.
    case atLeastOnce(PacketID, isDuplicate: Bool)
    /// QoS 2. `isDuplicate` is the DUP flag: true if the packet may have been sent before.
    case exactlyOnce(PacketID, isDuplicate: Bool)

    /// Creates a delivery with this QoS. Returns `nil` if the QoS is 1 or 2 and `packetID` is `nil`.
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

    /// The packet id; `nil` for QoS 0.
    @inlinable
    public var packetID: PacketID? {
        switch self {
        case .atMostOnce: nil
        case .atLeastOnce(let id, _), .exactlyOnce(let id, _): id
        }
    }

    /// The DUP flag, which is always false for QoS 0.
    @inlinable
    public var isDuplicate: Bool {
        switch self {
        case .atMostOnce: false
        case .atLeastOnce(_, let isDuplicate), .exactlyOnce(_, let isDuplicate): isDuplicate
        }
    }
}
