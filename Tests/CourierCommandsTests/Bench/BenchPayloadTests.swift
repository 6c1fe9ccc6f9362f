import Foundation
import TestSupport
import Testing

@testable import CourierCommands

struct BenchPayloadTests {
    /// The payload of a message that each run of `--payload text -s 16` counts: a send time, and no run.
    static let withoutRun = [UInt8](repeating: UInt8(ascii: "0"), count: 16)

    @Test(arguments: BenchPayload.Kind.allCases)
    func `a payload has the requested size, and contains its send time`(kind: BenchPayload.Kind) {
        var chance = SeededGenerator(seed: 1)
        for size in [kind.smallestSize, kind.smallestSize + 1, 64, 1_000] {
            let payload = BenchPayload(kind, size: size)
            for number in [0, 1, 4_095, 4_096, 1_000_000] {
                let time = UInt64.random(in: 0...(.max), using: &chance)
                let bytes = payload.bytes(sentAt: time, number: number)
                #expect(bytes.count == size)
                // A slice of other data, because a received payload can be a slice.
                let received = Data([1, 2, 3] + bytes).dropFirst(3)
                #expect(payload.sentAt(in: received) == time)
                #expect(payload.sentAt(in: received.dropLast()) == nil)
            }
        }
    }

    @Test func `a JSON payload is a JSON object at every size`() throws {
        for size in BenchPayload.Kind.json.smallestSize..<200 {
            let bytes = BenchPayload(.json, size: size).bytes(sentAt: 0xABC, number: 0)
            let object = try JSONSerialization.jsonObject(with: Data(bytes)) as? [String: String]
            #expect(object?["sent"] == "0000000000000abc" && object?["data"]?.count == size - 37, "\(size)")
        }
    }

    @Test func `a text payload is ASCII text, and a payload of zeros contains zeros after the time`() {
        let text = BenchPayload(.text, size: 500).bytes(sentAt: .max, number: 0)
        #expect(text.allSatisfy { (0x20..<0x7F).contains($0) })
        #expect(BenchPayload(.zeros, size: 500).bytes(sentAt: .max, number: 0).dropFirst(16).allSatisfy { $0 == 0 })
    }

    @Test(arguments: BenchPayload.Kind.allCases)
    func `no send time is read from a bench payload of another run if the payload contains the run number`(
        kind: BenchPayload.Kind
    ) {
        let roomForBoth = [.zeros: 16, .random: 16, .text: 32, .json: 53][kind, default: 0]
        for size in [16, 32, 52, 53, 64, 1_000] where size >= kind.smallestSize {
            let own = BenchPayload(kind, size: size, run: 1)
            let other = BenchPayload(kind, size: size, run: 2)
            let bytes = Data(own.bytes(sentAt: 7, number: 0))
            #expect(own.sentAt(in: bytes) == 7)
            #expect(other.sentAt(in: bytes) == (size >= roomForBoth ? nil : 7), "\(size)")
        }
    }

    @Test func `two random payloads differ`() {
        let payload = BenchPayload(.random, size: 64)
        #expect(payload.bytes(sentAt: 1, number: 1) != payload.bytes(sentAt: 1, number: 2))
    }

    @Test(arguments: [BenchPayload.Kind.text, .json])
    func `no send time is read from a payload without hexadecimal digits`(kind: BenchPayload.Kind) {
        #expect(BenchPayload(kind, size: 64).sentAt(in: Data(repeating: UInt8(ascii: "x"), count: 64)) == nil)
    }
}
