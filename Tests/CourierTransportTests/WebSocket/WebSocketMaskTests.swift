import TestSupport
import Testing

@testable import CourierTransport

@Suite struct WebSocketMaskTests {
    private func mask(_ key: [UInt8]) -> WebSocketMask {
        key.withUnsafeBytes { bytes in bytes.baseAddress.map { WebSocketMask($0) } ?? WebSocketMask(word: 0) }
    }

    @Test func `masking gives the same bytes as byte-by-byte masking, for every length and alignment`() {
        var random = SeededGenerator(seed: 1)
        for count in 0...200 {
            for shift in [0, 1, 3, 7] {
                let key = random.bytes(4)
                let source = random.bytes(count + shift)
                var target = [UInt8](repeating: 0xEE, count: count + shift + 1)
                source.withUnsafeBytes { source in
                    target.withUnsafeMutableBytes { target in
                        guard let from = source.baseAddress ?? UnsafeRawPointer(bitPattern: 1),
                            let to = target.baseAddress
                        else { return }
                        mask(key).apply(from: from + shift, to: to + shift, count: count)
                    }
                }
                let expected = source[shift...].enumerated().map { $1 ^ key[$0 % 4] }
                #expect(Array(target[shift..<(shift + count)]) == expected)
                #expect(target.last == 0xEE, "written beyond the end")
            }
        }
    }

    @Test func `a payload that is masked in two steps has the same bytes as in one step`() {
        var random = SeededGenerator(seed: 2)
        for first in 0...9 {
            let key = random.bytes(4)
            let payload = random.bytes(40)
            var bytes = payload
            bytes.withUnsafeMutableBytes { bytes in
                guard let start = bytes.baseAddress else { return }
                mask(key).apply(from: start, to: start, count: first)
                mask(key).advanced(by: first).apply(from: start + first, to: start + first, count: 40 - first)
            }
            #expect(bytes == payload.enumerated().map { $1 ^ key[$0 % 4] })
        }
    }

    /// The test vector is from RFC 8439, section 2.3.2.
    @Test func `the random source of WebSocket masks generates the ChaCha20 test vector of RFC 8439`() {
        let seed = (
            SIMD4<UInt32>(0x0302_0100, 0x0706_0504, 0x0B0A_0908, 0x0F0E_0D0C),
            SIMD4<UInt32>(0x1312_1110, 0x1716_1514, 0x1B1A_1918, 0x1F1E_1D1C)
        )
        let block = WebSocketMaskSource.block(seed, SIMD4(1, 0x0900_0000, 0x4A00_0000, 0))
        #expect(
            block
                == SIMD16(
                    0xE4E7_F110, 0x1559_3BD1, 0x1FDD_0F50, 0xC471_20A3, 0xC7F4_D1C7, 0x0368_C033, 0x9AAA_2204,
                    0x4E6C_D4C3, 0x4664_82D2, 0x09AA_9F07, 0x05D7_C214, 0xA202_8BD9, 0xD19C_12B5, 0xB94E_16DE,
                    0xE883_D0CB, 0x4E3C_50A2))
    }

    @Test func `the same random seed gives the same masks, and another seed gives different masks`() {
        func masks(_ seed: UInt64) -> [WebSocketMask] {
            var generator = SeededGenerator(seed: seed)
            var source = WebSocketMaskSource(using: &generator)
            return (0..<100).map { _ in source.next() }
        }
        #expect(masks(1) == masks(1))
        #expect(Set(masks(1)).count == 100)
        #expect(Set(masks(1)).isDisjoint(with: masks(2)))
    }
}
