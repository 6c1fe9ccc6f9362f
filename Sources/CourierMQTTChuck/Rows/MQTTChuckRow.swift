public import CourierCore
public import Foundation
public import MQTTCodec

/// One packet as a row of a packet list.
public struct MQTTChuckRow: Identifiable, Hashable, Sendable {
    /// The number of the row. Later rows have greater numbers.
    public let number: UInt64

    /// The time at which the packet was written or read, in nanoseconds since 1970.
    public let timeNanoseconds: Int64

    /// The direction of the packet: outgoing from the client, or incoming from the broker.
    public let direction: PacketBatch.Direction

    /// The connection that carried the packet.
    public let connection: MQTTChuckConnection

    /// The packet type, or `nil` if the bytes are not a packet.
    public let type: PacketType?

    /// The original size of the packet in bytes, even if only a part is stored.
    public let size: Int

    /// The reason why the packet cannot be decoded, or `nil` if it was decoded.
    public internal(set) var problem: String?

    /// The packet id, or `nil` if the packet has none.
    public internal(set) var packetID: UInt16?

    /// The QoS of a PUBLISH; `nil` for other packets.
    public internal(set) var qos: PacketQoS?

    /// The DUP flag of a PUBLISH.
    public internal(set) var isDuplicate = false

    /// The retain flag of a PUBLISH.
    public internal(set) var isRetained = false

    /// The topic of a PUBLISH, or the comma-separated filters of a SUBSCRIBE or UNSUBSCRIBE. A topic alias is replaced
    /// by its topic if the topic is known.
    public internal(set) var topic: String?

    /// The topic alias of a PUBLISH.
    public internal(set) var topicAlias: UInt16?

    /// The size of the payload of a PUBLISH in bytes.
    public internal(set) var payloadSize: Int?

    /// A preview of the payload of a PUBLISH.
    public internal(set) var preview = MQTTChuckPreview.empty

    /// The reason codes. SUBACK and UNSUBACK have one reason code per filter. Other packets have at most one reason
    /// code.
    public internal(set) var reasons: [MQTTChuckReason] = []

    /// The properties in wire order.
    public internal(set) var properties: [MQTTChuckProperty] = []

    /// The number of the row that began the packet's exchange. It is this row's own number if this packet began the
    /// exchange, and `nil` if the packet belongs to no exchange.
    public internal(set) var exchange: UInt64?

    /// The time since the exchange began; `nil` for the packet that began the exchange, and without an exchange.
    public internal(set) var elapsed: Duration?

    /// The duration of the whole exchange, in the rows of the packets that began and ended it; `nil` in other rows.
    public internal(set) var roundTrip: Duration?

    init(_ raw: RawRow) {
        number = raw.number
        timeNanoseconds = raw.time
        direction = raw.direction
        connection = raw.connection
        type = raw.type
        size = raw.size
    }

    /// The number of the row.
    public var id: UInt64 { number }

    /// The time at which the packet was written or read.
    public var time: Date { Nanoseconds.date(timeNanoseconds) }

    /// True if the packet cannot be decoded or reports a failure.
    public var isError: Bool { problem != nil || reasons.contains { $0.isError } }

    /// The trace context of a PUBLISH, in its user properties; `nil` if the packet has no trace context.
    public var traceContext: TraceContext? {
        guard type == .publish else { return nil }
        return TraceContext(properties.lazy.filter(\.isUserProperty).map { ($0.name, $0.value) })
    }

    /// The packet type as written in the specification, such as `PUBACK`, or `UNKNOWN`.
    public var typeName: String { type?.description ?? "UNKNOWN" }
}
