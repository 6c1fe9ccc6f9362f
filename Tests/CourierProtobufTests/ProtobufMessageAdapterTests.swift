import CourierCore
import CourierProtobuf
import Foundation
import Testing

/// A replacement for the message protocol of SwiftProtobuf, with the same two methods.
private protocol ForeignMessage: Sendable, Hashable {
    init(serializedBytes data: Data) throws
    func serializedData() throws -> Data
}

extension ProtobufMessage where Self: ForeignMessage {
    fileprivate init(protobufData data: Data) throws { try self.init(serializedBytes: data) }
    fileprivate func protobufData() throws -> Data { try serializedData() }
}

private struct ForeignNote: ForeignMessage, ProtobufMessage {
    var title: String
    init(title: String) { self.title = title }
    init(serializedBytes data: Data) throws { title = try Note(protobufData: data).title }
    func serializedData() throws -> Data { try Note(title: title).protobufData() }
}

struct ProtobufMessageAdapterTests {
    private let adapter = ProtobufMessageAdapter()

    @Test func `the adapter encodes and decodes a generated message`() throws {
        let note = Note(title: "hello", stars: 3)
        let data = try adapter.toMessage(data: note, topic: "notes")
        #expect(data == Data([0x0A, 5] + Array("hello".utf8) + [0x18, 3]))
        let read: Note = try adapter.fromMessage(data, topic: "notes")
        #expect(read == note)
        #expect(adapter.contentType == "application/x-protobuf")
    }

    @Test func `the adapter encodes and decodes a message type of another Protobuf library`() throws {
        let data = try adapter.toMessage(data: ForeignNote(title: "from afar"), topic: "notes")
        #expect(try adapter.fromMessage(data, topic: "notes") as ForeignNote == ForeignNote(title: "from afar"))
        #expect(try adapter.fromMessage(data, topic: "notes") as Note == Note(title: "from afar"))
    }

    @Test func `the adapter refuses types that are not a ProtobufMessage`() {
        struct Plain: Codable {}
        for refused in [
            #expect(throws: CourierError.self) { try adapter.toMessage(data: "text", topic: "notes") },
            #expect(throws: CourierError.self) { try adapter.toMessage(data: Data([1]), topic: "notes") },
            #expect(throws: CourierError.self) { try adapter.toMessage(data: Plain(), topic: "notes") },
        ] { #expect(refused?.code == .encodingFailed) }
        for refused in [
            #expect(throws: CourierError.self) { try adapter.fromMessage(Data(), topic: "notes") as String },
            #expect(throws: CourierError.self) { try adapter.fromMessage(Data(), topic: "notes") as Data },
            #expect(throws: CourierError.self) { try adapter.fromMessage(Data(), topic: "notes") as Plain },
        ] {
            #expect(refused?.code == .decodingFailed)
            #expect(refused?.message.contains("is not a ProtobufMessage") == true)
        }
    }

    @Test func `the adapter refuses bytes that are not a valid message`() {
        #expect(throws: CourierError.self) { try adapter.fromMessage(Data([0x0A]), topic: "notes") as Note }
    }

    @Test func `the adapter refuses messages above its size limit`() throws {
        let small = ProtobufMessageAdapter(limits: ProtobufLimits(maximumSize: 10))
        let data = try adapter.toMessage(data: Note(title: "more than ten"), topic: "notes")
        #expect(throws: CourierError.self) { try small.fromMessage(data, topic: "notes") as Note }
        #expect(throws: CourierError.self) { try small.toMessage(data: Note(title: "more than ten"), topic: "notes") }
    }
}
