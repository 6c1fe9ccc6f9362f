import CourierCore
import CourierProtobuf
import Foundation
import Testing

/// A nested message may be encoded in several parts, which are merged into one message.
struct MessagePartsTests {
    /// A length-prefixed field with a tag of two bytes.
    private func field(_ tag: [UInt8], _ content: [UInt8]) -> [UInt8] { tag + [UInt8(content.count)] + content }
    private func legacy(_ content: [UInt8]) -> [UInt8] { field([0xC2, 0x06], content) }  // Field 104.
    private func child(_ content: [UInt8]) -> [UInt8] { field([0xAA, 0x06], content) }  // Field 101.

    private let id: [UInt8] = [0x08, 0x02]
    private let name: [UInt8] = [0x12, 0x01, 0x61]
    private let part: [UInt8] = [0x1A, 0x00]

    @Test func `if a nested message is sent in two parts, only one part needs to have the required fields`() throws {
        let whole = Courier_Legacy_Legacy(
            id: 1, name: "ann", part: .init(label: "a"), count: 7, loose: [1, 2], other: .init(label: "b"))
        let complete = try Courier_Test_Everything(legacy: whole).protobufData()
        let partial = Data(legacy(id))
        var expected = whole
        expected.id = 2
        #expect(try Courier_Test_Everything(protobufData: complete + partial).legacy == expected)
        expected.id = 1  // The last part counts.
        #expect(try Courier_Test_Everything(protobufData: partial + complete).legacy == expected)
    }

    @Test func `required fields of a nested message may be spread over several parts, in any order`() throws {
        let expected = Courier_Legacy_Legacy(id: 2, name: "a", part: .init())
        let both = id + name
        let orders: [[[UInt8]]] = [[id, name, part], [part, name, id], [part, both], [[], both, part, []]]
        for parts in orders {
            let bytes = parts.flatMap { legacy($0) }
            #expect(try Courier_Test_Everything(protobufBytes: bytes).legacy == expected)
        }
    }

    @Test func `required fields of a nested message may be spread over several parts of the outer message`() throws {
        let bytes = child(legacy(id)) + child(legacy(name)) + child(legacy(part))
        let read = try Courier_Test_Everything(protobufBytes: bytes)
        #expect(read.child?.legacy == Courier_Legacy_Legacy(id: 2, name: "a", part: .init()))
    }

    @Test func `if no part of a message contains a required field, the field is reported as missing`() throws {
        for bytes in [legacy(id) + legacy(name), child(legacy(id)) + child(legacy(name))] {
            let error = #expect(throws: CourierError.self) { try Courier_Test_Everything(protobufBytes: bytes) }
            #expect(error?.message == "the required field courier.legacy.Legacy.part is missing")
        }
    }

    @Test func `a nested message that occurs twice is merged like two concatenated messages`() throws {
        // Both messages begin with an unknown field.
        var one = try Courier_Test_Everything(protobufBytes: [0x80, 0x7D, 0x01])
        one.anInt32 = 1
        one.aString = "one"
        one.aPlace = .init(latitude: 1)
        one.maybeInt32 = 0
        one.doubles = [1.5, -2]
        one.int32s = [1, 2, 3]
        one.bools = [true]
        one.strings = ["a", ""]
        one.byteStrings = [[1], []]
        one.places = [.init(latitude: 3)]
        one.counts = ["a": 1, "b": 2]
        one.payload = .text("old")
        one.second = .left(5)
        one.details = ["x": 1]
        one.list = [true]
        one.wrappedString = "one"
        var other = try Courier_Test_Everything(protobufBytes: [0x80, 0x7D, 0x02])
        other.aString = "other"
        other.aPlace = .init(longitude: 2)
        other.doubles = [3]
        other.int32s = [4, 5]
        other.bools = [false, true]
        other.strings = ["b"]
        other.byteStrings = [[2, 3]]
        other.places = [.init(longitude: 4)]
        other.counts = ["a": 3]
        other.payload = .number(-4)
        other.details = ["y": 2]
        other.list = [false]
        other.wrappedString = ""

        let parts = [one, Courier_Test_Everything(), other]
        let inside = try parts.reduce(Data()) { try $0 + Courier_Test_Everything(child: $1).protobufData() }
        let outside = try parts.reduce(Data()) { try $0 + $1.protobufData() }
        let expected = try Courier_Test_Everything(protobufData: outside)
        #expect(expected.int32s == [1, 2, 3, 4, 5] && expected.unknownFields.bytes == [0x80, 0x7D, 1, 0x80, 0x7D, 2])
        #expect(try Courier_Test_Everything(protobufData: inside).child == expected)
    }

    @Test func `maximumCount limits the total number of elements in all parts of a nested message`() throws {
        let part = try Courier_Test_Everything(child: .init(int32s: Array(repeating: 1, count: 60))).protobufData()
        #expect(throws: Never.self) {
            try Courier_Test_Everything(protobufData: part + part, limits: ProtobufLimits(maximumCount: 120))
        }
        #expect(throws: CourierError.self) {
            try Courier_Test_Everything(protobufData: part + part, limits: ProtobufLimits(maximumCount: 119))
        }
    }

    @Test func `seconds and nanoseconds of a Protobuf duration may be in different parts of the message`() throws {
        let minusOne: [UInt8] = [0x10] + Array(repeating: 0xFF, count: 9) + [0x01]
        let parts: [[UInt8]] = [[0x08, 0x05], minusOne, [0x08, 0x07]]
        let bytes = parts.flatMap { field([0x92, 0x05], $0) }  // Field 82.
        let lasted = try Courier_Test_Everything(protobufBytes: bytes).lasted
        #expect(lasted == Duration.seconds(7) - .nanoseconds(1))
    }
}
