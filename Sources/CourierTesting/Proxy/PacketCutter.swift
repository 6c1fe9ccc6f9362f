import MQTTCodec

/// Finds the packets in the bytes of one direction by their fixed headers. It checks only the length of a packet, so
/// that a proxy can forward packets that violate the specification.
struct PacketCutter: Sendable {
    /// A whole packet, or a part of a packet that is too large to be held.
    struct Piece: Equatable, Sendable {
        let range: Range<Int>
        /// The packet type; `nil` for the reserved type 0, and for all parts of a packet except the first.
        let type: PacketType?
        /// The size of the whole packet.
        let packetSize: Int
        let isFirst: Bool
        let isLast: Bool
        var isWhole: Bool { isFirst && isLast }
    }

    enum Next: Equatable, Sendable {
        /// More bytes are needed, because the packet is not complete.
        case needsMore
        case piece(Piece)
        /// The remaining length has more than four bytes ([MQTT-1.5.5-1]), so the end of the packet is unknown.
        case malformedLength
    }

    /// The size of the largest packet that is returned as a whole.
    let heldSize: Int
    /// `packetSize` is the size of the packet that is being returned in parts. `missing` is the number of its bytes
    /// that were not returned yet.
    private var packetSize = 0
    private var missing = 0

    init(heldSize: Int) { self.heldSize = heldSize }

    /// Returns the next piece, which starts at `offset`.
    mutating func next(in bytes: RawSpan, at offset: Int) -> Next {
        let available = bytes.byteCount - offset
        guard available > 0 else { return .needsMore }
        if missing > 0 {
            let count = min(missing, available)
            missing -= count
            return .piece(
                Piece(
                    range: offset..<offset + count, type: nil, packetSize: packetSize, isFirst: false,
                    isLast: missing == 0))
        }
        var length = 0
        var index = 1
        while true {
            guard index <= 4 else { return .malformedLength }
            guard index < available else { return .needsMore }
            let part = bytes.unsafeLoad(fromByteOffset: offset + index, as: UInt8.self)
            length |= Int(part & 0x7F) << (7 * (index - 1))
            index += 1
            if part < 0x80 { break }
        }
        let size = index + length
        let count = min(size, heldSize)
        guard available >= count else { return .needsMore }
        packetSize = size
        missing = size - count
        let type = PacketType(rawValue: bytes.unsafeLoad(fromByteOffset: offset, as: UInt8.self) >> 4)
        return .piece(
            Piece(
                range: offset..<offset + count, type: type, packetSize: size, isFirst: true, isLast: count == size))
    }
}
