import CourierCore
import MQTTCodec

/// One packet as it is kept: a place in a slab, to be read by whoever looks.
struct RawRow {
    let number: UInt64
    let slab: Slab
    let range: Range<Int>
    /// Whether the bytes are a whole packet.
    let isWhole: Bool
    /// What the topic alias stands for, where the packet has no topic of its own.
    let aliasTopic: String?
    let link: ExchangeLink?

    var connection: MQTTChuckConnection { slab.connection }
    var direction: PacketBatch.Direction { slab.direction }
    var time: Int64 { slab.time }
    var bytes: ArraySlice<UInt8> { slab.bytes[range] }
    var firstByte: UInt8 { slab.bytes[range.lowerBound] }
    var type: PacketType? { PacketType(rawValue: firstByte >> 4) }

    /// The size on the wire, also where not all was kept.
    var size: Int { max(slab.wholeSize, range.count) }

    /// Whether the packet was cut off because it is too large to be kept.
    var isCut: Bool { slab.wholeSize > range.count }
}
