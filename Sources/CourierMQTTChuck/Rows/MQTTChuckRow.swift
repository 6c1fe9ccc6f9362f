public import CourierCore
public import Foundation
public import MQTTCodec

/// One packet as a list shows it.
public struct MQTTChuckRow: Identifiable, Hashable, Sendable {
    /// The number of the row; grows with time.
    public let number: UInt64

    /// When the packet was written or read, in nanoseconds since 1970.
    public let timeNanoseconds: Int64

    /// Which way it went.
    public let direction: PacketBatch.Direction

    /// The connection it belongs to, with its client.
    public let connection: MQTTChuckConnection

    /// Its type; `nil` for what is no packet.
    public let type: PacketType?

    /// Its size on the wire in bytes, also where not all was kept.
    public let size: Int

    /// What is wrong with it, where it cannot be read; `nil` for a good packet.
    public internal(set) var problem: String?

    /// The packet id.
    public internal(set) var packetID: UInt16?

    /// The quality of service of a PUBLISH.
    public internal(set) var qos: PacketQoS?

    /// The DUP flag of a PUBLISH.
    public internal(set) var isDuplicate = false

    /// The retain flag of a PUBLISH.
    public internal(set) var isRetained = false

    /// The topic of a PUBLISH, also where an alias stands for it and its meaning is known; the filters of SUBSCRIBE and
    /// UNSUBSCRIBE, one behind the other.
    public internal(set) var topic: String?

    /// The topic alias of a PUBLISH.
    public internal(set) var topicAlias: UInt16?

    /// The size of the payload of a PUBLISH in bytes.
    public internal(set) var payloadSize: Int?

    /// The payload of a PUBLISH.
    public internal(set) var preview = MQTTChuckPreview.empty

    /// The reason codes: one for each filter in SUBACK and UNSUBACK, one at most in others.
    public internal(set) var reasons: [MQTTChuckReason] = []

    /// The properties in their order on the wire.
    public internal(set) var properties: [MQTTChuckProperty] = []

    /// The number of the row that began the exchange this packet belongs to; its own where it began one, `nil` where it
    /// belongs to none.
    public internal(set) var exchange: UInt64?

    /// The time since the exchange began, on the packets that follow the first.
    public internal(set) var elapsed: Duration?

    /// How long the whole exchange took: on the packet that ended it, and on the one that began it.
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

    /// When the packet was written or read.
    public var time: Date { Nanoseconds.date(timeNanoseconds) }

    /// Whether it is malformed, or says that something failed.
    public var isError: Bool { problem != nil || reasons.contains { $0.isError } }

    /// The name that the specification uses, such as `PUBACK`.
    public var typeName: String { type?.description ?? "UNKNOWN" }
}
