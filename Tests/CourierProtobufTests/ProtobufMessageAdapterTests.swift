import CourierCore
import CourierProtobuf
import Foundation
import Testing

/// Stands in for a type of SwiftProtobuf: the same protocol with the same two calls.
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

    @Test func `a generated message is written and read`() throws {
        let note = Note(title: "hello", stars: 3)
        let data = try adapter.toMessage(data: note, topic: "notes")
        #expect(data == Data([0x0A, 5] + Array("hello".utf8) + [0x18, 3]))
        let read: Note = try adapter.fromMessage(data, topic: "notes")
        #expect(read == note)
        #expect(adapter.contentType == "application/x-protobuf")
    }

    @Test func `a message of another library takes part with two lines`() throws {
        let data = try adapter.toMessage(data: ForeignNote(title: "from afar"), topic: "notes")
        #expect(try adapter.fromMessage(data, topic: "notes") as ForeignNote == ForeignNote(title: "from afar"))
        #expect(try adapter.fromMessage(data, topic: "notes") as Note == Note(title: "from afar"))
    }

    @Test func `anything else is left to the other adapters`() {
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
            #expect(refused?.message.contains("is no ProtobufMessage") == true)
        }
    }

    @Test func `bytes that are no such message are an error`() {
        #expect(throws: CourierError.self) { try adapter.fromMessage(Data([0x0A]), topic: "notes") as Note }
    }

    @Test func `its limits hold`() throws {
        let small = ProtobufMessageAdapter(limits: ProtobufLimits(maximumSize: 10))
        let data = try adapter.toMessage(data: Note(title: "more than ten"), topic: "notes")
        #expect(throws: CourierError.self) { try small.fromMessage(data, topic: "notes") as Note }
        #expect(throws: CourierError.self) { try small.toMessage(data: Note(title: "more than ten"), topic: "notes") }
    }
}
