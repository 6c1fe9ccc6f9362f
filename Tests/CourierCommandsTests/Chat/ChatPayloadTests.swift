import CourierCore
import CourierMQTT
import Foundation
import Testing

@testable import CourierCommands

/// Encoding and decoding of the chat's payloads.
struct ChatPayloadTests {
    private static func message(_ json: String) throws -> ChatMessage {
        try JSONMessageAdapter().fromMessage(Data(json.utf8), topic: "courier-chat/rooms/lobby/messages")
    }

    private static func presence(_ json: String, _ topic: String = "courier-chat/people/a%2Fb") throws -> ChatPresence {
        try ChatPresenceAdapter().fromMessage(Data(json.utf8), topic: topic)
    }

    @Test func `a chat message is unchanged after encoding and decoding`() throws {
        let message = ChatMessage(id: "1", person: "p", name: "ada", text: "é\n\"", isAction: true, time: 1.5)
        let data = try JSONMessageAdapter().toMessage(data: message, topic: "t")
        #expect(try JSONMessageAdapter().fromMessage(data, topic: "t") as ChatMessage == message)
    }

    @Test func `a chat message without a name is valid, and a long text or name is cut`() throws {
        #expect(try Self.message(#"{"text":"hi","more":1}"#).text == "hi")
        let long = try Self.message(
            #"{"text":"\#(String(repeating: "x", count: 5_000))","name":"\#(String(repeating: "n", count: 100))"}"#)
        #expect(long.text.count == ChatMessage.textLimit && long.name.count == ChatName.limit)
        #expect(throws: (any Error).self) { try Self.message(#"{"name":"ada"}"#) }
        #expect(throws: (any Error).self) { try Self.message("hi") }
    }

    @Test func `a text or name with many combining marks is cut to its byte limit`() throws {
        let tower = "a" + String(repeating: "\u{301}", count: 500_000)
        let message = try Self.message(
            #"{"text":"\#(tower)","id":"\#(tower)","person":"\#(tower)","name":"\#(tower)"}"#)
        #expect(message.text.utf8.count <= ChatMessage.textLimit && message.name.utf8.count <= ChatName.byteLimit)
        #expect(message.id.utf8.count <= ChatMessage.idLimit && message.person.utf8.count <= ChatMessage.idLimit)
        let card = try #require(try Self.presence(#"{"name":"\#(tower)","rooms":["\#(tower)","lobby"]}"#).card)
        #expect(card.name.utf8.count <= ChatName.byteLimit && card.rooms.count == 2)
        #expect(card.rooms[0].utf8.count <= ChatName.byteLimit && card.rooms[1] == "lobby")
    }

    @Test func `a presence message has the user id in its topic, and an empty payload means offline`() throws {
        #expect(
            try Self.presence(#"{"name":"ada","rooms":["lobby"]}"#)
                == ChatPresence(person: "a/b", card: .init(name: "ada", rooms: ["lobby"])))
        #expect(try Self.presence("") == ChatPresence(person: "a/b", card: nil))
        #expect(throws: (any Error).self) { try Self.presence("[]") }
        #expect(throws: (any Error).self) { try Self.presence("", "courier-chat/people/%2f") }
        #expect(throws: (any Error).self) { try Self.presence("", "other/people") }
        let long = String(repeating: "x", count: ChatMessage.idLimit)
        #expect(try Self.presence("", "courier-chat/people/\(long)").person == long)
        #expect(throws: (any Error).self) { try Self.presence("", "courier-chat/people/\(long)x") }
    }

    @Test func `ChatPresenceAdapter encodes and decodes ChatPresence and throws for other types`() throws {
        let adapter = ChatPresenceAdapter()
        let presence = ChatPresence(person: "a/b", card: .init(name: "ada", rooms: ["lobby", "tea"]))
        let data = try adapter.toMessage(data: presence, topic: "courier-chat/people/a%2Fb")
        #expect(try adapter.fromMessage(data, topic: "courier-chat/people/a%2Fb") as ChatPresence == presence)
        #expect(try adapter.toMessage(data: ChatPresence(person: "p", card: nil), topic: "t").isEmpty)
        #expect(throws: CourierError.self) { try adapter.toMessage(data: "text", topic: "t") }
        #expect(throws: CourierError.self) {
            try adapter.fromMessage(data, topic: "courier-chat/people/a%2Fb") as ChatMessage
        }
    }
}
