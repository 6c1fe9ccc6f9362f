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
    /// How long the whole exchange took in nanoseconds, once it is over; looked up only for those who ask for it.
    var roundTrip: Int64?

    var connection: MQTTChuckConnection { slab.connection }
    var direction: PacketBatch.Direction { slab.direction }
    var time: Int64 { slab.time }
    var bytes: ArraySlice<UInt8> { slab.bytes[range] }
    var firstByte: UInt8 { slab.bytes[range.lowerBound] }
    var type: PacketType? { PacketType(rawValue: firstByte >> 4) }

    /// The row that began the exchange which this packet belongs to, or may belong to.
    var exchangeStart: UInt64? {
        if let link { return link.start }
        switch type {
        case .publish: return firstByte & 0b110 == 0 ? nil : number
        case .connect, .subscribe, .unsubscribe, .pingReq, .pubRel: return number
        case .connAck, .pubAck, .pubRec, .pubComp, .subAck, .unsubAck, .pingResp, .disconnect, .auth, nil: return nil
        }
    }

    /// The size on the wire, also where not all was kept.
    var size: Int { max(slab.wholeSize, range.count) }

    /// Whether the packet was cut off because it is too large to be kept.
    var isCut: Bool { slab.wholeSize > range.count }
}
