import CourierCore
import CourierProtobuf
import Foundation
import Testing

/// Invalid or hostile bytes, which are read or refused.
struct HostileBytesTests {
    private let peer = Peer(type: "courier.test.Everything")

    @Test func `every truncated message is accepted or refused exactly as in Python`() throws {
        let messages = try peer.random(seed: Cases.seed + 6, count: 12, without: [.unknown]).map { $0.prefix(1_200) }
        let cuts = messages.flatMap { message in (0..<message.count).map { Data(message.prefix($0)) } }
        for (cut, isGood) in zip(cuts, try peer.accepts(cuts)) {
            let isRead = (try? Courier_Test_Everything(protobufData: cut)) != nil
            guard isRead == isGood else {
                Issue.record("seed \(Cases.seed): \(cut.hex) is \(isRead ? "read" : "refused") here, not there")
                return
            }
        }
    }

    @Test func `a message with changed bytes is refused, or can be read and written again`() throws {
        let messages = try peer.random(seed: Cases.seed + 7, count: 50)
        var generator = SeededGenerator(seed: Cases.seed)
        for _ in 0..<Cases.count * 10 {
            guard var message = messages.randomElement(using: &generator), !message.isEmpty else { continue }
            for _ in 0..<Int.random(in: 1...4, using: &generator) {
                message[Int.random(in: 0..<message.count, using: &generator)] = .random(in: 0...255, using: &generator)
            }
            guard let value = try? Courier_Test_Everything(protobufData: message) else { continue }
            let written = try value.protobufData()
            #expect(try Courier_Test_Everything(protobufData: written).protobufData() == written, "\(message.hex)")
        }
    }

    @Test func `a message nested deeper than the limit is refused, and a message at the limit is read`() throws {
        func nested(_ depth: Int) -> Data {
            (1..<depth).reduce(Data()) { inner, _ in
                var length: [UInt8] = []
                var count = inner.count
                repeat {
                    length.append(UInt8(count & 127) | (count > 127 ? 128 : 0))
                    count >>= 7
                } while count > 0
                return Data([0xAA, 0x06] + length) + inner  // Field 101, `child`.
            }
        }
        #expect(throws: Never.self) { try Courier_Test_Everything(protobufData: nested(100)) }
        #expect(throws: CourierError.self) { try Courier_Test_Everything(protobufData: nested(101)) }
        #expect(throws: CourierError.self) { try Courier_Test_Everything(protobufData: nested(20_000)) }
        let limits = ProtobufLimits(maximumDepth: 3)
        #expect(throws: Never.self) { try Courier_Test_Everything(protobufData: nested(3), limits: limits) }
        #expect(throws: CourierError.self) { try Courier_Test_Everything(protobufData: nested(4), limits: limits) }
    }

    @Test func `writing a message that is nested too deeply throws an error`() throws {
        var value = Courier_Test_Everything()
        for _ in 0..<200 { value = Courier_Test_Everything(children: [value]) }
        #expect(throws: CourierError.self) { try value.protobufData() }
    }

    @Test func `a message above the size or count limit is refused, and a message at the limit is read`() throws {
        let message = try Courier_Test_Everything(int32s: Array(repeating: 1, count: 100)).protobufData()
        for (limits, isGood) in [
            (ProtobufLimits(maximumSize: message.count), true), (ProtobufLimits(maximumSize: message.count - 1), false),
            (ProtobufLimits(maximumCount: 100), true), (ProtobufLimits(maximumCount: 99), false),
        ] {
            #expect(((try? Courier_Test_Everything(protobufData: message, limits: limits)) != nil) == isGood)
        }
        #expect(throws: CourierError.self) {
            try Courier_Test_Everything(protobufData: message).protobufData(limits: ProtobufLimits(maximumSize: 10))
        }
    }

    @Test func `a small Protobuf input that needs more than the working memory limit is refused`() throws {
        // 100,000 empty children in field 102. Each child uses two kilobytes as a C struct.
        let bytes = Data((0..<100_000).flatMap { _ in [0xB2, 0x06, 0x00] as [UInt8] })
        let error = #expect(throws: CourierError.self) {
            try Courier_Test_Everything(protobufData: bytes, limits: ProtobufLimits(workingMemory: 16 << 20))
        }
        #expect(error?.message.contains("16777216") == true)
    }

    @Test func `a received field with the invalid number 0 is dropped, so the message can be written and read again`()
        throws
    {
        // Contains the tag 0 in two bytes, and then a number.
        let message = try Courier_Legacy_Legacy(
            protobufBytes: [8, 1, 18, 1, 97, 26, 3, 74, 1, 98, 0x80, 0, 0xFE, 0xFF, 0xFF, 1, 56, 1])
        let written = try message.protobufData()
        #expect(try Courier_Legacy_Legacy(protobufData: written).protobufData() == written)
    }

    @Test func `text that is not UTF-8 is refused, and the error names its field`() throws {
        let error = #expect(throws: CourierError.self) { try Note(protobufBytes: [0x0A, 0x02, 0xC3, 0x28]) }
        #expect(error?.code == .decodingFailed)
        #expect(error?.message.contains("Note.title") == true)
    }

    @Test func `map keys that are equal in Swift but have different bytes are refused`() throws {
        let one = try Courier_Test_Everything(counts: ["caf\u{E9}": 1]).protobufData()
        let other = try Courier_Test_Everything(counts: ["cafe\u{301}": 2]).protobufData()
        let error = #expect(throws: CourierError.self) { try Courier_Test_Everything(protobufData: one + other) }
        #expect(error?.message.hasPrefix("courier.test.Everything.counts has two keys") == true)
        #expect(try Courier_Test_Everything(protobufData: one + one).counts == ["caf\u{E9}": 1])
        let parts = try ["caf\u{E9}", "cafe\u{301}"].map {
            try Courier_Test_Everything(details: [$0: true]).protobufData()
        }
        #expect(throws: CourierError.self) { try Courier_Test_Everything(protobufData: parts[0] + parts[1]) }
    }

    @Test func `a decoding error names the field and byte position of the damage`() throws {
        let error = #expect(throws: CourierError.self) { try Note(protobufBytes: [0x18, 0x01, 0x0A, 0x05, 0x61]) }
        #expect(
            error?.message == "Note.title is broken at byte 2: the field's length is 5 bytes, but only 1 bytes remain")
    }
}
