import TestSupport
import Testing

@testable import CourierTransport

@Suite struct UTF8CheckTests {
    private func isText(_ pieces: [[UInt8]]) -> Bool {
        var check = UTF8Check()
        for piece in pieces {
            guard piece.withUnsafeBytes({ check.accepts($0) }) else { return false }
        }
        return !check.isInsideCharacter
    }

    @Test func `UTF8Check has the same result as the standard library for all combinations of two bytes`() {
        var different: [[UInt8]] = []
        for first in UInt8.min...UInt8.max {
            for second in UInt8.min...UInt8.max {
                for tail in [[], [0x80], [0x80, 0x80], [0xBF, 0xBF], [0x41]] as [[UInt8]] {
                    let bytes = [first, second] + tail
                    if isText([bytes]) != (String(validating: bytes, as: UTF8.self) != nil) { different.append(bytes) }
                }
            }
        }
        #expect(different.isEmpty)
    }

    @Test(arguments: SeededGenerator.seeds)
    func `UTF8Check returns the same result if the text is split into pieces`(_ seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        for _ in 0..<2_000 {
            var bytes = Array("aß€😀é".utf8)
            for _ in 0..<random.below(3) {
                bytes[random.below(bytes.count)] = random.pick([0x80, 0xC3, 0xE2, 0xF0, 0x41])
            }
            let expected = String(validating: bytes, as: UTF8.self) != nil
            #expect(isText(random.pieces(of: bytes)) == expected, "\(bytes)")
            #expect(isText(bytes.map { [$0] }) == expected, "\(bytes)")
        }
    }
}
