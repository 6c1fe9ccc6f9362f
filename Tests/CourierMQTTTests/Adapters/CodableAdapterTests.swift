import CourierCore
import CourierMQTT
import Foundation
import TestSupport
import Testing

/// The common behavior of ``JSONMessageAdapter`` and ``PlistMessageAdapter``, and their differences.
@Suite struct CodableAdapterTests {
    static let adapters: [any MessageAdapter] = [
        JSONMessageAdapter(), PlistMessageAdapter(), PlistMessageAdapter(format: .xml),
    ]

    @Test(arguments: adapters)
    func `a Codable value is unchanged after encoding and decoding`(_ adapter: any MessageAdapter) throws {
        let note = Note(title: "Grüße 👋", rank: -7, tags: ["a": [1, 2], "": []])
        let bytes = try adapter.toMessage(data: note, topic: "t")
        #expect(try adapter.fromMessage(bytes, topic: "t") as Note == note)
        let notes: [Note] = [note, note]
        #expect(try adapter.fromMessage(adapter.toMessage(data: notes, topic: "t"), topic: "t") == notes)
        // The dynamic type of the value matters, not the declared type of its variable.
        let anything: Any = note
        #expect(try adapter.fromMessage(adapter.toMessage(data: anything, topic: "t"), topic: "t") == note)
    }

    @Test(arguments: adapters)
    func `the Codable adapters throw an error for text, bytes and types that are not Codable`(
        _ adapter: any MessageAdapter
    ) {
        expectCourierError(.encodingFailed, "TextMessageAdapter handles String") {
            try adapter.toMessage(data: "text", topic: "t")
        }
        expectCourierError(.encodingFailed) { try adapter.toMessage(data: "text" as Any, topic: "t") }
        expectCourierError(.encodingFailed) { try adapter.toMessage(data: "text".dropFirst(), topic: "t") }
        expectCourierError(.encodingFailed) { try adapter.toMessage(data: Data([1]), topic: "t") }
        expectCourierError(.encodingFailed) { try adapter.toMessage(data: [UInt8(1)], topic: "t") }
        expectCourierError(.encodingFailed, "Opaque") { try adapter.toMessage(data: Opaque(number: 1), topic: "t") }
        let json = Data("\"text\"".utf8)
        expectCourierError(.decodingFailed, "TextMessageAdapter handles String") {
            try adapter.fromMessage(json, topic: "t") as String
        }
        expectCourierError(.decodingFailed) { try adapter.fromMessage(json, topic: "t") as Substring }
        expectCourierError(.decodingFailed) { try adapter.fromMessage(json, topic: "t") as Data }
        expectCourierError(.decodingFailed) { try adapter.fromMessage(json, topic: "t") as [UInt8] }
        expectCourierError(.decodingFailed, "Opaque") { try adapter.fromMessage(json, topic: "t") as Opaque }
    }

    @Test(arguments: adapters)
    func `decoding bytes of another format throws DecodingError`(_ adapter: any MessageAdapter) {
        for payload in [Data(), Data([0xFF, 0x00]), Data("{\"title\":".utf8), Data("bplist00".utf8)] {
            #expect(throws: DecodingError.self) { try adapter.fromMessage(payload, topic: "t") as Note }
        }
    }

    @Test func `the JSON adapter encodes a top-level number and uses a custom encoder`() throws {
        let adapter = JSONMessageAdapter()
        #expect(try adapter.toMessage(data: 21.5, topic: "t") == Data("21.5".utf8))
        #expect(try adapter.fromMessage(Data("[1,2]".utf8), topic: "t") == [1, 2])
        let encoder = JSONEncoder()
        encoder.keyEncodingStrategy = .convertToSnakeCase
        encoder.outputFormatting = .sortedKeys
        let decoder = JSONDecoder()
        decoder.keyDecodingStrategy = .convertFromSnakeCase
        struct Order: Codable, Equatable { var orderID = 7 }
        let custom = JSONMessageAdapter(encoder: encoder, decoder: decoder)
        #expect(try custom.toMessage(data: Order(), topic: "t") == Data("{\"order_id\":7}".utf8))
        #expect(custom.contentType == "application/json")
    }

    @Test func `a property list is written as binary unless XML is configured, and XML is read`() throws {
        let note = Note(title: "a", rank: 1)
        let binary = try PlistMessageAdapter().toMessage(data: note, topic: "t")
        let xml = try PlistMessageAdapter(format: .xml).toMessage(data: note, topic: "t")
        #expect(binary.starts(with: Data("bplist".utf8)))
        #expect(xml.starts(with: Data("<?xml".utf8)))
        #expect(try PlistMessageAdapter().fromMessage(xml, topic: "t") == note)
        #expect(throws: EncodingError.self) { try PlistMessageAdapter().toMessage(data: 5, topic: "t") }
        #expect(PlistMessageAdapter().contentType == "application/x-plist")
    }

    /// A coder with state that is shared between calls would mix up the values.
    @Test(arguments: adapters)
    func `an adapter that several tasks use at the same time encodes and decodes correctly`(
        _ adapter: any MessageAdapter
    ) async throws {
        try await withThrowingTaskGroup(of: Void.self) { group in
            for worker in 0..<8 {
                group.addTask {
                    for round in 0..<200 {
                        let tags = ["\(worker)": Array(0...(round % 7)), "r": [round]]
                        let note = Note(title: "\(worker)/\(round)", rank: round, tags: tags)
                        let bytes = try adapter.toMessage(data: note, topic: "t")
                        #expect(try adapter.fromMessage(bytes, topic: "t") == note)
                        let broken = bytes.dropLast(bytes.count / 2)
                        #expect(throws: DecodingError.self) { try adapter.fromMessage(broken, topic: "t") as Note }
                    }
                }
            }
            try await group.waitForAll()
        }
    }
}
