import CourierCore
import CourierMQTTChuck
import Foundation
import MQTTCodec
import Synchronization
import TestSupport
import Testing

@testable import CourierProtobuf

private final class CallCount: Sendable {
    let count = Atomic(0)
}

/// Protobuf payloads in the packet inspector, with a descriptor set of the real `protoc`.
struct ProtobufPayloadTextTests {
    private let types: ProtobufDescriptorSet
    private let note = Note(title: "a \"b\": {,}", stars: 5, tags: ["x", "ü"])
    private let noteText = """
        {
          "title": "a \\"b\\": {,}",
          "stars": 5,
          "tags": [
            "x",
            "ü"
          ]
        }
        """

    init() throws { types = try ProtobufDescriptorSet(Tool.descriptorSet()) }

    private func notes(maximumSize: Int = 64 << 10) throws -> ProtobufPayloadText {
        try ProtobufPayloadText(types, rules: ["chat/+/notes": "Note"], maximumSize: maximumSize)
    }

    /// A logger that observed one PUBLISH packet for each message.
    private func logger(
        _ messages: [(topic: String, payload: Data)], _ change: (inout MQTTChuckOptions) -> Void
    ) throws -> MQTTChuckLogger {
        var options = MQTTChuckOptions()
        change(&options)
        let logger = MQTTChuckLogger(options: options)
        let connection = ObservedConnection(
            id: 1,
            options: ConnectOptions(
                host: "localhost", port: 1883, clientId: "c", username: "", password: "", isCleanSession: true),
            protocolVersion: .v311, openedAt: Date(), openedInstant: .now)
        for message in messages {
            let packet = Packet.publish(Publish(topic: message.topic, payload: [UInt8](message.payload)))
            logger.observed(
                PacketBatch(
                    direction: .incoming, bytes: try TestSupport.encode(packet, .v311, from: .server), time: .now,
                    connection: connection))
        }
        return logger
    }

    @Test func `the inspector shows payloads of a mapped topic as JSON, and other payloads unchanged`() throws {
        let payload = try note.protobufData()
        let notes = try notes()
        let logger = try logger([
            ("chat/7/notes", payload), ("other", payload), ("chat/7/notes", Data([0x0A, 0xFF])),
            ("chat/7/notes", Data("plain".utf8)), ("chat/7/notes", Data(#"{"a":1}"#.utf8)),
        ]) { $0.payloadParsers = [MQTTChuckPayloadFunction(notes.text)] }
        let previews = logger.rows().rows.map(\.preview)
        #expect(previews.map(\.kind) == [.parsed, .hex, .hex, .text, .json])
        #expect(previews[0].text == noteText)
        #expect(previews[2].text.replacing(" ", with: "").lowercased() == "0aff")
        // The search finds the JSON text, although the packet itself does not contain it.
        #expect(try logger.rows(matching: MQTTChuckQuery("\"stars\\\": 5\"")).rows.map(\.number) == [1])
    }

    @Test func `the app's own payload parser is called before the Protobuf rules are applied`() throws {
        let notes = try notes()
        let payload = try note.protobufData()
        let logger = try logger([("chat/7/notes", payload), ("chat/8/notes", Data([0x18, 0x02]))]) {
            $0.dataStringParser = { $0 == payload ? "mine" : nil }
            $0.payloadParsers = [MQTTChuckPayloadFunction(notes.text)]
        }
        #expect(logger.rows().rows.map(\.preview.text) == ["mine", "{\n  \"stars\": 2\n}"])
    }

    @Test func `the first rule whose filter matches the topic decides the message type`() throws {
        let rules = try ProtobufPayloadText(
            types, rules: ["a/b": "courier.shared.Place", "$share/g/a/#": "Note", "a/c": "courier.shared.Place"])
        let payload = try note.protobufData()
        #expect(rules.text(of: payload, topic: "a/c") == noteText)
        #expect(rules.text(of: payload, topic: "a/b") != noteText)
        #expect(rules.text(of: payload, topic: "b") == nil)
        #expect(rules.text(of: payload, topic: "") == nil)
    }

    @Test func `a payload without any known field of its type is not shown as an empty message`() throws {
        // Field 99, which is unknown in a note.
        #expect(try notes().text(of: Data([0x98, 0x06, 0x01]), topic: "chat/1/notes") == nil)
    }

    @Test func `a payload above maximumSize is not decoded, and a payload of that size is decoded`() throws {
        let payload = try note.protobufData()
        #expect(try notes(maximumSize: payload.count - 1).text(of: payload, topic: "chat/1/notes") == nil)
        #expect(try notes(maximumSize: payload.count).text(of: payload, topic: "chat/1/notes") == noteText)
    }

    @Test func `the preview of a huge payload in the packet list has at most 2048 bytes`() throws {
        let notes = try notes()
        let large = try Note(title: String(repeating: "t", count: 50_000)).protobufData()
        let huge = try Note(tags: Array(repeating: "t", count: 2_000_000)).protobufData()
        let logger = try logger([("chat/7/notes", large), ("chat/7/notes", huge)]) {
            $0.payloadParsers = [MQTTChuckPayloadFunction(notes.text)]
        }
        let rows = logger.rows().rows
        #expect(rows.map(\.preview.isCut) == [true, true])
        #expect(rows.allSatisfy { $0.preview.text.utf8.count <= 2_048 })
        #expect(rows[0].preview.kind == .parsed)
        // The logger kept only the beginning of the huge payload, so its last field is cut.
        #expect(rows[1].preview.kind != .parsed || rows[1].preview.isCut)
        #expect(try #require(logger.details(of: 1)).row.preview.text.utf8.count > 50_000)
    }

    @Test func `payload parsers are called only when rows are read`() throws {
        let calls = CallCount()
        let logger = try logger([("a", Data([1]))]) {
            $0.payloadParsers = [
                MQTTChuckPayloadFunction { _, _, _ in
                    calls.count.add(1, ordering: .relaxed)
                    return nil
                }
            ]
        }
        #expect(calls.count.load(ordering: .relaxed) == 0)
        _ = logger.rows()
        #expect(calls.count.load(ordering: .relaxed) == 1)
    }

    @Test func `an invalid filter or an unknown type in a rule throws an error`() throws {
        #expect(throws: CourierError.self) { try ProtobufPayloadText(types, rules: ["a/#/b": "Note"]) }
        let error = #expect(throws: CourierError.self) {
            try ProtobufPayloadText(types, rules: ["a": "chat.Note"])
        }
        #expect(error?.code == .invalidConfiguration)
    }

    @Test func `random payload bytes do not crash the conversion to text`() throws {
        let everything = try ProtobufPayloadText(types, rules: ["#": "courier.test.Everything"])
        var generator = SeededGenerator(seed: Cases.seed + 77)
        for _ in 0..<2_000 {
            let count = Int.random(in: 0...200, using: &generator)
            _ = everything.text(
                of: Data((0..<count).map { _ in UInt8.random(in: 0...255, using: &generator) }), topic: "t")
        }
    }

    @Test func `JSON indentation adds only white space, and is omitted if the indented JSON is too long`() throws {
        let value = Courier_Test_Everything(aString: "[\\\"{", counts: ["a": 1, "b": 2], child: .init(aString: "x"))
        let json = try types.json(from: value.protobufData(), type: "courier.test.Everything")
        let shown = JSONIndentation.indented(json)
        #expect(shown.contains("\n    ") && shown != json)
        let objects = try [json, shown].map { try JSONSerialization.jsonObject(with: Data($0.utf8)) as? NSDictionary }
        #expect(objects[0] == objects[1] && objects[0] != nil)
        #expect(JSONIndentation.indented("{}") == "{}" && JSONIndentation.indented("[[],{}]") == "[\n  [],\n  {}\n]")
        let deep =
            String(repeating: "[", count: 300) + String(repeating: "1,", count: 5_000) + "1"
            + String(repeating: "]", count: 300)
        #expect(JSONIndentation.indented(deep) == deep)
    }
}
