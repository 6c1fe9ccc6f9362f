import MQTTCodec
import Testing

@testable import CourierTesting

@Suite struct `Packet cutter` {
    /// The pieces and the end of `bytes`, which are offered in parts of `size` bytes, as a channel offers them.
    private func cut(_ bytes: [UInt8], inPartsOf size: Int, heldSize: Int) -> (
        pieces: [[UInt8]], wholes: [Bool], end: PacketCutter.Next
    ) {
        var cutter = PacketCutter(heldSize: heldSize)
        var rest: [UInt8] = []
        var pieces: [[UInt8]] = []
        var wholes: [Bool] = []
        var last = PacketCutter.Next.needsMore
        for start in stride(from: 0, to: bytes.count, by: size) {
            rest += bytes[start..<min(start + size, bytes.count)]
            var offset = 0
            while true {
                last = cutter.next(in: rest.span.bytes, at: offset)
                guard case .piece(let piece) = last else { break }
                offset = piece.range.upperBound
                pieces.append(Array(rest[piece.range]))
                wholes.append(piece.isWhole)
            }
            if last == .malformedLength { break }
            rest.removeFirst(offset)
        }
        return (pieces, wholes, last)
    }

    private static let packets: [[UInt8]] = [
        [0xC0, 0], [0x40, 2, 0, 1], [0x30, 0x83, 0] + [UInt8](repeating: 7, count: 3),
        [0x30, 0x80, 1] + [UInt8](repeating: 9, count: 128), [0x00, 1, 5],
    ]

    @Test(arguments: [1, 2, 3, 5, 64, 1_000])
    func `a byte stream is cut into its packets unchanged, for every way of splitting the bytes`(size: Int) {
        let (pieces, wholes, end) = cut(Self.packets.flatMap(\.self), inPartsOf: size, heldSize: 200)
        #expect(pieces == Self.packets)
        #expect(wholes.allSatisfy { $0 })
        #expect(end == .needsMore)
    }

    @Test(arguments: [1, 7, 100, 1_000])
    func `a packet above the size limit is returned in parts, and then the next packet is returned`(size: Int) {
        let large: [UInt8] = [0x30, 0xF4, 3] + (0..<500).map { UInt8(truncatingIfNeeded: $0) }
        let (pieces, wholes, _) = cut(large + [0xC0, 0], inPartsOf: size, heldSize: 100)
        #expect(pieces.dropLast().flatMap(\.self) == large)
        #expect(pieces.last == [0xC0, 0])
        #expect(pieces[0].count == 100)
        #expect(!wholes[0])
        #expect(wholes.last == true)
    }

    @Test(arguments: [1, 100])
    func `a remaining length above four bytes is malformed, and earlier packets are still returned`(size: Int) {
        let (pieces, _, end) = cut([0xC0, 0, 0x30, 0xFF, 0xFF, 0xFF, 0x80, 1], inPartsOf: size, heldSize: 100)
        #expect(pieces == [[0xC0, 0]])
        #expect(end == .malformedLength)
    }

    @Test func `each part of a large packet has the size of the whole packet, and only the first part has the type`() {
        var cutter = PacketCutter(heldSize: 4)
        let beginning: [UInt8] = [0x30, 8, 1, 2]
        let rest: [UInt8] = [3, 4, 5, 6, 7, 8]
        guard case .piece(let first) = cutter.next(in: beginning.span.bytes, at: 0),
            case .piece(let last) = cutter.next(in: rest.span.bytes, at: 0)
        else {
            Issue.record("the packet was not found")
            return
        }
        #expect(first == .init(range: 0..<4, type: .publish, packetSize: 10, isFirst: true, isLast: false))
        #expect(last == .init(range: 0..<6, type: nil, packetSize: 10, isFirst: false, isLast: true))
    }
}
