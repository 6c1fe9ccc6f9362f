import CourierCore
import Foundation
import TestSupport
import Testing

@testable import CourierMQTT

@Suite struct AdapterRegistryTests {
    private let note = Note(title: "a", rank: 1)

    private func message(_ data: Data, topic: String = "a/b", contentType: String? = nil) -> Message {
        Message(data: data, topic: topic, qos: .one, properties: MessageProperties(contentType: contentType))
    }

    private func registry(_ adapters: any MessageAdapter..., rules: [AdapterRule] = []) throws -> AdapterRegistry {
        try AdapterRegistry(adapters, rules: rules)
    }

    // MARK: The choice

    struct Choice: Sendable, CustomTestStringConvertible {
        let name: String
        let topic: String
        let contentType: String?
        let expected: String
        var testDescription: String { name }
    }

    @Test(arguments: [
        Choice(name: "order", topic: "new/1", contentType: nil, expected: "application/json"),
        Choice(name: "rule", topic: "old/1", contentType: nil, expected: "application/x-plist"),
        Choice(name: "first rule", topic: "old/json", contentType: nil, expected: "application/json"),
        Choice(
            name: "content type", topic: "new/1", contentType: "application/x-plist", expected: "application/x-plist"),
        Choice(name: "case", topic: "new/1", contentType: "Application/X-PLIST", expected: "application/x-plist"),
        Choice(
            name: "parameters", topic: "new/1", contentType: " application/x-plist ; v=2",
            expected: "application/x-plist"),
        Choice(
            name: "content type before rule", topic: "old/1", contentType: "application/json",
            expected: "application/json"),
        Choice(name: "unknown type, rule", topic: "old/1", contentType: "image/png", expected: "application/x-plist"),
        Choice(name: "unknown type, order", topic: "new/1", contentType: "", expected: "application/json"),
    ])
    func `the adapter is chosen by content type, then by adapter rule, then by the order of adapters`(_ choice: Choice)
        throws
    {
        let registry = try registry(
            JSONMessageAdapter(), PlistMessageAdapter(),
            rules: [
                AdapterRule("old/json", contentType: "APPLICATION/JSON; charset=utf-8"),
                AdapterRule("old/#", contentType: "application/x-plist"),
            ])
        let encoded = try registry.encode(
            note, topic: choice.topic, properties: MessageProperties(contentType: choice.contentType))
        #expect(encoded.contentType == choice.contentType ?? choice.expected)
        let isPlist = encoded.bytes.starts(with: Array("bplist".utf8))
        #expect(isPlist == (choice.expected == "application/x-plist"))
        let received = message(Data(encoded.bytes), topic: choice.topic, contentType: choice.contentType)
        #expect(try registry.decode(Note.self, from: received) == note)
    }

    @Test func `a property list is decoded even if its content type is missing or wrong`() throws {
        let registry = try registry(JSONMessageAdapter(), PlistMessageAdapter())
        let plist = try PlistMessageAdapter().toMessage(data: note, topic: "a/b")
        #expect(try registry.decode(Note.self, from: message(plist)) == note)
        #expect(try registry.decode(Note.self, from: message(plist, contentType: "application/json")) == note)
    }

    @Test func `the next adapter is used if one adapter cannot encode or decode the type`() throws {
        let registry = try registry(
            JSONMessageAdapter(), OpaqueAdapter(), TextMessageAdapter(), DataMessageAdapter())
        let opaque = try registry.encode(Opaque(number: 7), topic: "a/b")
        #expect(opaque == ([UInt8]("7".utf8), "application/vnd.opaque"))
        #expect(try registry.decode(Opaque.self, from: message(Data("7".utf8))) == Opaque(number: 7))
        #expect(try registry.encode(5, topic: "a/b") == ([UInt8]("5".utf8), "application/json"))
        // JSON cannot represent infinity, but text can.
        #expect(try registry.encode(Double.infinity, topic: "a/b") == ([UInt8]("inf".utf8), "text/plain;charset=utf-8"))
    }

    @Test func `an empty array of values is encoded as JSON, not as bytes`() throws {
        let registry = try registry(DataMessageAdapter(), JSONMessageAdapter())
        #expect(try registry.encode([Note](), topic: "a/b") == ([UInt8]("[]".utf8), "application/json"))
    }

    // MARK: Without adapters

    @Test func `a Message is decoded and encoded unchanged without any adapter`() throws {
        let registry = try registry()
        let original = message(Data([0xFF, 0]), contentType: "image/png")
        #expect(try registry.decode(Message.self, from: original) == original)
        #expect(try registry.encode(original, topic: "copy") == ([0xFF, 0], "image/png"))
    }

    @Test func `the payload of a String or Data value is the unchanged value, with or without an adapter for the type`()
        throws
    {
        let json = Data("{\"title\":\"a\"}".utf8)
        let registries = [
            try registry(), try registry(JSONMessageAdapter()),
            try registry(JSONMessageAdapter(), TextMessageAdapter(), DataMessageAdapter()),
        ]
        for registry in registries {
            for contentType in [nil, "application/json", "text/plain"] {
                let received = message(json, contentType: contentType)
                #expect(try registry.decode(String.self, from: received) == "{\"title\":\"a\"}")
                #expect(try registry.decode(Substring.self, from: received) == "{\"title\":\"a\"}")
                #expect(try registry.decode(Data.self, from: received) == json)
                #expect(try registry.decode([UInt8].self, from: received) == [UInt8](json))
            }
            #expect(try registry.encode("é", topic: "t") == ([0xC3, 0xA9], "text/plain;charset=utf-8"))
            #expect(try registry.encode(Data([7]), topic: "t") == ([7], "application/octet-stream"))
            #expect(try registry.encode([UInt8(7)], topic: "t") == ([7], "application/octet-stream"))
            expectCourierError(.decodingFailed, "UTF-8") {
                try registry.decode(String.self, from: message(Data([0xFF])))
            }
        }
        // The built-in rules for text and bytes accept no other types.
        expectCourierError(.encodingFailed) { try registries[0].encode(5, topic: "t") }
    }

    @Test func `if the app has an adapter that decodes text, the adapter is used instead of the built-in decoding`()
        throws
    {
        struct Shouting: MessageAdapter {
            var contentType: String { "text/shouting" }
            func fromMessage<T>(_ message: Data, topic: String) throws -> T {
                guard let text = String(decoding: message, as: UTF8.self).uppercased() as? T else {
                    throw CourierError(.decodingFailed, "only text")
                }
                return text
            }
            func toMessage<T>(data: T, topic: String) throws -> Data {
                throw CourierError(.encodingFailed, "read only")
            }
        }
        let registry = try registry(Shouting())
        #expect(try registry.decode(String.self, from: message(Data("hey".utf8))) == "HEY")
        #expect(try registry.encode("hey", topic: "t").bytes == [UInt8]("hey".utf8))
    }

    // MARK: Errors

    @Test func `a decoding error names the type, the topic, the size and the reason of each adapter`() throws {
        let registry = try registry(
            JSONMessageAdapter(), PlistMessageAdapter(), TextMessageAdapter(), DataMessageAdapter(), OpaqueAdapter())
        let payload = Data("{\"title\":\"secret\",\"rank\":\"secret\",\"tags\":{\"secret\":[true]}}".utf8)
        let error = expectCourierError(
            .decodingFailed, "Note", "\"a/b\"", "\(payload.count) bytes", "\"image/png\"",
            "application/json: the value at rank is not of type ", "application/x-plist: the bytes are not well-formed",
            "text/plain;charset=utf-8: Note cannot be text", "application/octet-stream: Note is neither",
            "application/vnd.opaque: Leak", "messageAdapters"
        ) {
            try registry.decode(Note.self, from: message(payload, contentType: "image/png"))
        }
        #expect(error?.cause is DecodingError)
        #expect(error?.description.contains("secret") == false)
        expectCourierError(.encodingFailed, "Opaque", "\"a/b\"", "application/json: Opaque is not Encodable") {
            try AdapterRegistry([JSONMessageAdapter()]).encode(Opaque(number: 1), topic: "a/b")
        }
        expectCourierError(.encodingFailed, "there is no adapter") {
            try AdapterRegistry([]).encode(Opaque(number: 1), topic: "a/b")
        }
    }

    @Test(arguments: [
        ("{\"title\":\"a\",\"rank\":1,\"tags\":{\"secret\":[1,\"x\"]}}", "at tags.…[1] is not of type Int"),
        ("{\"title\":\"a\"}", "a value is missing at rank"), ("[]", "at the top is not of type "),
        ("secret", "not well-formed"),
        ("{\"title\":null,\"rank\":1,\"tags\":{}}", "a value of type String is missing at title"),
    ])
    func `a decoding error names the failed field, but no values and no dictionary keys`(
        _ json: String, _ expected: String
    ) throws {
        let error = expectCourierError(.decodingFailed, expected) {
            try registry(JSONMessageAdapter()).decode(Note.self, from: message(Data(json.utf8)))
        }
        #expect(error?.description.contains("secret") == false)
    }

    @Test func `an encoding error names the failed field, but not its value`() throws {
        struct Reading: Codable { var level = Double.nan }
        let error = expectCourierError(.encodingFailed, "Double at level cannot be encoded") {
            try registry(JSONMessageAdapter()).encode(Reading(), topic: "t")
        }
        #expect(error?.message.contains("nan") == false)
    }

    // MARK: The configuration

    @Test func `an adapter rule with an invalid filter or an unknown content type throws an error`() {
        expectCourierError(.invalidConfiguration, "The adapter rule for \"application/json\": ", "\"a/#/b\"") {
            try registry(JSONMessageAdapter(), rules: [AdapterRule("a/#/b", contentType: "application/json")])
        }
        expectCourierError(.invalidConfiguration, "\"text/csv\"", "\"application/json\"") {
            try registry(JSONMessageAdapter(), rules: [AdapterRule("a", contentType: "text/csv")])
        }
        // This adapter is not in the list, so a rule cannot name its content type.
        expectCourierError(.invalidConfiguration) {
            try registry(JSONMessageAdapter(), rules: [AdapterRule("a", contentType: "text/plain")])
        }
    }

    @Test func `too many adapters or adapter rules throw invalidConfiguration`() {
        let adapters = Array(repeating: DataMessageAdapter(), count: AdapterRegistry.adapterLimit + 1)
        expectCourierError(.invalidConfiguration, "65") { try AdapterRegistry(adapters) }
        let rule = AdapterRule("a", contentType: "application/octet-stream")
        let rules = Array(repeating: rule, count: AdapterRegistry.ruleLimit + 1)
        expectCourierError(.invalidConfiguration, "257") { try registry(DataMessageAdapter(), rules: rules) }
    }
}
