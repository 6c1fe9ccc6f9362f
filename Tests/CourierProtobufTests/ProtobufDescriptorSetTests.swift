import CourierCore
import Foundation
import Testing

@testable import CourierProtobuf

/// Messages as JSON, compared with Google's own implementation.
struct ProtobufDescriptorSetTests {
    private let type = "courier.test.Everything"
    private let peer = Peer(type: "courier.test.Everything")

    @Test func `JSON that Swift writes is parsed by Python into the same message`() throws {
        let types = try ProtobufDescriptorSet(Tool.descriptorSet())
        let messages = try peer.random(seed: Cases.seed + 4, count: Cases.count, without: [.unknown])
        let texts = try messages.map { try types.json(from: $0, type: type) }
        for ((message, text), theirs) in zip(zip(messages, texts), try peer.parse(json: texts)) where message != theirs
        {
            Issue.record("seed \(Cases.seed): \(message.hex) became \(text), which is \(theirs.hex)")
            return
        }
    }

    @Test func `JSON that Python writes is parsed by Swift into the same message`() throws {
        let types = try ProtobufDescriptorSet(Tool.descriptorSet())
        let messages = try peer.random(seed: Cases.seed + 5, count: Cases.count, without: [.unknown])
        for (message, text) in zip(messages, try peer.json(messages)) {
            let ours = try types.payload(fromJSON: text, type: type)
            guard ours == message else {
                Issue.record("seed \(Cases.seed): \(text) became \(ours.hex), not \(message.hex)")
                return
            }
        }
    }

    @Test func `a note is converted to JSON and back, and messageNames lists all message types`() throws {
        let types = try ProtobufDescriptorSet(Tool.descriptorSet(["note.proto", "shared.proto"]))
        let note = Note(title: "a \"b\"\n", stars: 5, tags: ["x", "ü"])
        let text = #"{"title":"a \"b\"\n","stars":5,"tags":["x","ü"]}"#
        #expect(try types.json(from: note.protobufData(), type: "Note") == text)
        #expect(try types.payload(fromJSON: text, type: "Note") == note.protobufData())
        #expect(types.messageNames == ["Note", "courier.shared.Place"])
    }

    @Test func `two concatenated messages are written as one merged JSON object`() throws {
        let types = try ProtobufDescriptorSet(Tool.descriptorSet())
        let one = Courier_Test_Everything(aPlace: .init(latitude: 1), counts: ["a": 1, "b": 2], payload: .text("old"))
        let other = Courier_Test_Everything(aPlace: .init(longitude: 2), counts: ["a": 3], payload: .number(-4))
        let text = try types.json(from: one.protobufData() + other.protobufData(), type: type)
        #expect(text == #"{"aPlace":{"latitude":1.0,"longitude":2.0},"counts":{"a":3,"b":2},"number":"-4"}"#)
    }

    @Test func `map keys that are equal in Swift but have different bytes stay separate in JSON`() throws {
        let types = try ProtobufDescriptorSet(Tool.descriptorSet())
        let one = try Courier_Test_Everything(counts: ["caf\u{E9}": 1]).protobufData()
        let other = try Courier_Test_Everything(counts: ["cafe\u{301}": 2]).protobufData()
        let text = try types.json(from: other + one, type: type)
        #expect(text.utf8.elementsEqual("{\"counts\":{\"cafe\u{301}\":2,\"caf\u{E9}\":1}}".utf8))
        #expect(try types.payload(fromJSON: text, type: type) == other + one)
    }

    @Test(arguments: [
        "", "{", "[]", "{}x", #"{"a":1}"#, #"{"anInt32":2147483648}"#, #"{"anInt32":1.5}"#, #"{"aBool":1}"#,
        #"{"aString":"\ud800"}"#, #"{"aBytes":"*"}"#, #"{"aMood":"MOOD_ODD"}"#, #"{"created":"yesterday"}"#,
        #"{"created":"2023-02-29T00:00:00Z"}"#, #"{"text":"a","number":1}"#, #"{"aBool":true,"aBool":true}"#,
        #"{"counts":{"a":1,"a":2}}"#, #"{"anInt32":01}"#, #"{"names":{"x":"y"}}"#, #"{"any":{"a":1}}"#,
        #"{"anInt32":"NaN"}"#, #"{"anInt64":"-nan"}"#, #"{"aUint64":"Infinity"}"#, #"{"names":{"nan":"x"}}"#,
        #"{"aDouble":"nan"}"#, #"{"aFloat":"inf"}"#, #"{"created":"NaN"}"#, #"{"lasted":"NaNs"}"#, #"{"aMood":1e999}"#,
        #"{"aFloat":1e39}"#, #"{"strings":"a"}"#, #"{"aDouble":nan}"#, #"{"lasted":"1"}"#,
        #"{"names":{"1":"a","01":"b"}}"#, #"{"names":{"1":"a","1.0":"b"}}"#, #"{"names":{"0":"a","-0":"b"}}"#,
        #"{"anInt32":"+1"}"#, #"{"anInt32":"0x10"}"#, #"{"anInt32":"1 "}"#, #"{"aDouble":"0x10"}"#,
        #"{"mask":"a_b"}"#, #"{"mask":["aB"]}"#, #"{"mask":{"path":"a"}}"#,
        #"{"any":{"@type":"type.googleapis.com/x.Y","title":"hi"}}"#,
        #"{"any":{"@type":"type.googleapis.com/x.Y","value":"AQI=","value":"AQI="}}"#,
        #"{"any":{"@type":"type.googleapis.com/google.protobuf.Duration","value":"1s","title":"hi"}}"#,
        String(repeating: #"{"child":"#, count: 5_000), String(repeating: "[", count: 100_000),
    ])
    func `invalid JSON and JSON that does not fit the message type throw an error`(text: String) throws {
        let types = try ProtobufDescriptorSet(Tool.descriptorSet())
        #expect(throws: CourierError.self) { try types.payload(fromJSON: text, type: type) }
    }

    @Test(arguments: [#"{"@type":"type.googleapis.com/x.Y","value":"AQI="}"#, #"{"@type":"type.googleapis.com/x.Y"}"#])
    func `a packed Any message of an unknown type is unchanged after conversion from JSON and back`(any: String) throws
    {
        let types = try ProtobufDescriptorSet(Tool.descriptorSet())
        let payload = try types.payload(fromJSON: "{\"any\":\(any)}", type: type)
        #expect(try types.json(from: payload, type: type) == "{\"any\":\(any)}")
    }

    @Test(
        arguments: [
            ([], "\"\""), (["a_b", "c.d_e"], #""aB,c.dE""#), (["address_line_1"], #"{"paths":["address_line_1"]}"#),
            (["a__b"], #"{"paths":["a__b"]}"#), (["aB"], #"{"paths":["aB"]}"#), (["a,b"], #"{"paths":["a,b"]}"#),
            (["a", ""], #"{"paths":["a",""]}"#),
        ] as [([String], String)])
    func `a field mask is converted to JSON and back unchanged, even if its paths have no camel-case form`(
        paths: [String], text: String
    ) throws {
        let types = try ProtobufDescriptorSet(Tool.descriptorSet())
        let payload = try Courier_Test_Everything(mask: ProtobufFieldMask(paths: paths)).protobufData()
        #expect(try types.json(from: payload, type: type) == "{\"mask\":\(text)}")
        #expect(try types.payload(fromJSON: "{\"mask\":\(text)}", type: type) == payload)
    }

    @Test func `a type that is not in the descriptor set throws an error that names it`() throws {
        let types = try ProtobufDescriptorSet(Tool.descriptorSet(["note.proto"]))
        #expect(throws: CourierError.self) { try types.json(from: Data(), type: "Nobody") }
        let error = #expect(throws: CourierError.self) { try types.payload(fromJSON: "{}", type: "Nobody") }
        #expect(error?.code == .encodingFailed && error?.message.contains("Nobody") == true)
    }

    @Test func `JSON above the size limit is refused in both directions`() throws {
        let set = try Tool.descriptorSet(["note.proto"])
        let types = try ProtobufDescriptorSet(set, limits: ProtobufLimits(maximumJSONSize: 100))
        let note = Note(text: String(repeating: "x", count: 100))
        #expect(throws: CourierError.self) { try types.json(from: note.protobufData(), type: "Note") }
        #expect(throws: CourierError.self) {
            try types.payload(fromJSON: String(repeating: " ", count: 100) + "{}", type: "Note")
        }
    }

    @Test(arguments: ["int32s", "list", "counts", "details", "mask"])
    func `JSON with more elements than the limit is refused, and JSON at the limit is read`(field: String) throws {
        let types = try ProtobufDescriptorSet(Tool.descriptorSet(), limits: ProtobufLimits(maximumCount: 10_000))
        func text(_ count: Int) -> String {
            let ones = Array(repeating: "1", count: count).joined(separator: ",")
            let members = (0..<count).map { "\"\($0)\":1" }.joined(separator: ",")
            return switch field {
            case "counts", "details": "{\"\(field)\":{\(members)}}"
            case "mask": "{\"\(field)\":\"\(ones)\"}"
            default: "{\"\(field)\":[\(ones)]}"
            }
        }
        #expect(throws: Never.self) { try types.payload(fromJSON: text(10_000), type: type) }
        let error = #expect(throws: CourierError.self) { try types.payload(fromJSON: text(10_001), type: type) }
        #expect(error?.message.contains("more than the limit of 10000") == true)
    }

    @Test func `JSON that needs more than the working memory is refused`() throws {
        let types = try ProtobufDescriptorSet(Tool.descriptorSet(), limits: ProtobufLimits(workingMemory: 16 << 20))
        // Each message uses two kilobytes as a C struct.
        func children(_ count: Int) -> String {
            #""children":["# + Array(repeating: "{}", count: count).joined(separator: ",") + "]"
        }
        func packed(_ members: String) -> String {
            #""any":{"@type":"type.googleapis.com/courier.test.Everything","# + members + "}"
        }
        #expect(throws: Never.self) { try types.payload(fromJSON: "{\(children(4_000))}", type: type) }
        #expect(throws: Never.self) { try types.payload(fromJSON: "{\(packed(children(4_000)))}", type: type) }
        for members in [
            children(100_000), packed(children(100_000)), children(4_000) + "," + packed(children(4_000)),
        ] {
            let error = #expect(throws: CourierError.self) {
                try types.payload(fromJSON: "{\(members)}", type: type)
            }
            #expect(error?.message.contains("16777216") == true)
        }
    }

    @Test func `in JSON conversion, a message and the message in its Any field share one memory limit`() throws {
        let set = try Tool.descriptorSet()
        let children = Array(repeating: Courier_Test_Everything(), count: 4_000)
        let plain = Courier_Test_Everything(children: children)
        let packed = try ProtobufAny(plain)
        let both = try Courier_Test_Everything(any: packed, children: children).protobufData()
        let types = try ProtobufDescriptorSet(set, limits: ProtobufLimits(workingMemory: 16 << 20))
        #expect(throws: Never.self) { try types.json(from: plain.protobufData(), type: type) }
        #expect(throws: Never.self) {
            try types.json(from: Courier_Test_Everything(any: packed).protobufData(), type: type)
        }
        let error = #expect(throws: CourierError.self) { try types.json(from: both, type: type) }
        #expect(error?.message.contains("16777216") == true)
        #expect(throws: Never.self) { try ProtobufDescriptorSet(set).json(from: both, type: type) }
    }

    @Test func `a message in an Any field may use all working memory that the outer message does not use`() throws {
        // The estimate for the outer message alone, six times its size, is more than the working memory.
        let message = Courier_Test_Everything(aBytes: Array(repeating: 1, count: 750_000))
        let packed = try Courier_Test_Everything(any: ProtobufAny(message))
        let both = try Courier_Test_Everything(any: ProtobufAny(packed)).protobufData()
        let types = try ProtobufDescriptorSet(Tool.descriptorSet(), limits: ProtobufLimits(workingMemory: 4 << 20))
        #expect(throws: Never.self) { try types.json(from: both, type: type) }
    }

    @Test func `several packed Any messages in a message reuse the same working memory`() throws {
        let packed = try ProtobufAny(
            Courier_Test_Everything(children: Array(repeating: Courier_Test_Everything(), count: 4_000)))
        let child = Courier_Test_Everything(any: packed)
        let message = Courier_Test_Everything(children: [child, child, child])
        let types = try ProtobufDescriptorSet(
            Tool.descriptorSet(), limits: ProtobufLimits(workingMemory: 16 << 20))
        #expect(throws: Never.self) { try types.json(from: message.protobufData(), type: type) }
    }

    @Test func `a descriptor set with wrong field types does not crash the JSON conversion`() throws {
        let set = try FileDescriptorSet(protobufData: Tool.descriptorSet())
        let payload = try #require(try peer.random(seed: 7, count: 1).first)
        var generator = SeededGenerator(seed: Cases.seed)
        for _ in 0..<200 {
            var lying = set
            let file = Int.random(in: 0..<set.files.count, using: &generator)
            guard !lying.files[file].messages.isEmpty else { continue }
            let message = Int.random(in: 0..<lying.files[file].messages.count, using: &generator)
            for index in lying.files[file].messages[message].fields.indices
            where Int.random(in: 0..<4, using: &generator) == 0 {
                let kind = FieldDescriptor.Kind.allCases.randomElement(using: &generator) ?? .int32
                lying.files[file].messages[message].fields[index].kind = kind
                lying.files[file].messages[message].fields[index].label =
                    FieldDescriptor.Label.allCases.randomElement(using: &generator) ?? .optional
                lying.files[file].messages[message].fields[index].oneofIndex = Int32.random(
                    in: -1...2, using: &generator)
            }
            guard let types = try? ProtobufDescriptorSet(lying.protobufData()) else { continue }
            for name in types.messageNames { _ = try? types.json(from: payload, type: name) }
        }
    }
}
