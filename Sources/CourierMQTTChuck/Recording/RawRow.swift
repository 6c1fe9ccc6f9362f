import CourierCore
import MQTTCodec

/// A recorded packet as a range of bytes in a slab. It is decoded when the row is read.
struct RawRow {
    let number: UInt64
    let slab: Slab
    let range: Range<Int>
    /// True if the bytes are a whole packet.
    let isWhole: Bool
    /// The topic that the packet's topic alias stands for, if the packet itself has no topic.
    let aliasTopic: String?
    let link: ExchangeLink?
    /// The duration of the whole exchange in nanoseconds, if it has ended. It is set only for callers that need it.
    var roundTrip: Int64?

    var connection: MQTTChuckConnection { slab.connection }
    var direction: PacketBatch.Direction { slab.direction }
    var time: Int64 { slab.time }
    var bytes: ArraySlice<UInt8> { slab.bytes[range] }
    var firstByte: UInt8 { slab.bytes[range.lowerBound] }
    var type: PacketType? { PacketType(rawValue: firstByte >> 4) }

    /// The row that began the packet's exchange. It is this row if the packet may begin an exchange.
    var exchangeStart: UInt64? {
        if let link { return link.start }
        switch type {
        case .publish: return firstByte & 0b110 == 0 ? nil : number
        case .connect, .subscribe, .unsubscribe, .pingReq, .pubRel: return number
        case .connAck, .pubAck, .pubRec, .pubComp, .subAck, .unsubAck, .pingResp, .disconnect, .auth, nil: return nil
        }
    }

    /// The size of the packet on the wire, even if only a part was kept.
    var size: Int { max(slab.wholeSize, range.count) }

    /// True if the packet was cut because it is too large to be kept.
    var isCut: Bool { slab.wholeSize > range.count }
}
