import MQTTCodec

/// The fixed header of a packet in a batch, with only the fields that are needed to find the next packet.
///
/// Unlike `PacketDecoder`, it does not reject packets that violate the specification. It checks only the type and the
/// length. A recorder must continue after invalid packets, because users want to inspect them.
struct PacketHeader {
    let start: Int
    let bodyStart: Int
    /// The offset of the first byte after this packet, where the next packet begins.
    let end: Int
    /// The first byte, with the packet type and the flags.
    let first: UInt8

    /// Reads the header at `start`. Returns `nil` if no whole packet follows.
    @inline(__always)
    init?(_ bytes: Span<UInt8>, at start: Int) {
        let count = bytes.count
        var index = start &+ 1
        guard index < count else { return nil }
        let first = bytes[start]
        var byte = bytes[index]
        var length = Int(byte & 0x7F)
        var shift = 7
        while byte >= 0x80 {
            index &+= 1
            guard index < count, shift <= 21 else { return nil }
            byte = bytes[index]
            length |= Int(byte & 0x7F) &<< shift
            shift &+= 7
        }
        let bodyStart = index &+ 1
        guard length <= count &- bodyStart else { return nil }
        self.start = start
        self.bodyStart = bodyStart
        self.first = first
        end = bodyStart &+ length
    }

    /// The four bits of the packet type. 0 is not a valid type.
    @inline(__always) var typeBits: UInt8 { first &>> 4 }

    @inline(__always) var bodySize: Int { end &- bodyStart }

    @inline(__always) var size: Int { end &- start }

    @inline(__always) var qosBits: UInt8 { (first &>> 1) & 0b11 }

    @inline(__always) var isDuplicate: Bool { first & 0b1000 != 0 }

    @inline(__always) var isRetained: Bool { first & 1 != 0 }

    /// Returns the two bytes at `index` as a number. Returns 0, which is not a valid packet id, if the packet is too
    /// short.
    @inline(__always)
    func number(_ bytes: Span<UInt8>, at index: Int) -> UInt16 {
        guard index &+ 2 <= end else { return 0 }
        return UInt16(bytes[index]) &<< 8 | UInt16(bytes[index &+ 1])
    }
}
