import CourierCore
import MQTTCodec

/// A recorded packet as a range of bytes in a slab, the array with the packets of one read or write. It is decoded when
/// the row is read.
struct RawRow {
    let number: UInt64
    let slab: Slab
    let range: Range<Int>
    /// True if the bytes are a whole packet.
    let isWhole: Bool
    /// The topic that the packet's topic alias stands for. It is `nil` if the packet itself contains a topic, or if the
    /// topic is not known.
    let aliasTopic: String?
    let link: ExchangeLink?
    /// The duration of the whole exchange in nanoseconds; `nil` if the exchange has not ended. It is set only for
    /// callers that need it.
    var roundTrip: Int64?

    var connection: MQTTChuckConnection { slab.connection }
    var direction: PacketBatch.Direction { slab.direction }
    var time: Int64 { slab.time }
    var bytes: ArraySlice<UInt8> { slab.bytes[range] }
    var firstByte: UInt8 { slab.bytes[range.lowerBound] }
    var type: PacketType? { PacketType(rawValue: firstByte >> 4) }

    /// The number of the row that began the packet's exchange. It is the number of this row if the packet may begin an
    /// exchange, and `nil` if the packet belongs to no exchange.
    var exchangeStart: UInt64? {
        if let link { return link.start }
        switch type {
        case .publish: return firstByte & 0b110 == 0 ? nil : number
        case .connect, .subscribe, .unsubscribe, .pingReq, .pubRel: return number
        case .connAck, .pubAck, .pubRec, .pubComp, .subAck, .unsubAck, .pingResp, .disconnect, .auth, nil: return nil
        }
    }

    /// The original size of the packet in bytes, even if only a part is stored.
    var size: Int { max(slab.wholeSize, range.count) }

    /// True if the packet was too large, so that only its first bytes are stored.
    var isCut: Bool { slab.wholeSize > range.count }
}
