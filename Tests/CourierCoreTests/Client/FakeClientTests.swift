import CourierCore
import Foundation
import TestSupport
import Testing

/// The client without a broker that docs/testing.md shows.
@Suite struct FakeClientTests {
    private struct Note: Codable, Equatable { let title: String }

    private func send(_ title: String, on topic: String, to client: FakeClient) throws {
        let data = try JSONEncoder().encode(Note(title: title))
        client.incoming.send(Message(data: data, topic: topic, qos: .one))
    }

    @Test func `two messages in a row are read, from the loop's start on, and those of other topics are not`()
        async throws
    {
        let client = FakeClient()
        var notes = client.messages(Note.self, from: "chat/+/notes").makeAsyncIterator()
        try send("a", on: "chat/7/notes", to: client)
        try send("x", on: "chat/7/files", to: client)
        try send("b", on: "chat/8/notes", to: client)
        #expect(try await notes.next() == Note(title: "a"))
        #expect(try await notes.next() == Note(title: "b"))
    }

    @Test func `a publisher takes a filter with a wildcard`() throws {
        let client = FakeClient()
        let titles = Series<String>()
        let sink = client.messagePublisher(topic: "chat/#").sink { (note: Note) in titles.append(note.title) }
        try send("a", on: "chat/7/notes", to: client)
        try send("x", on: "news", to: client)
        try send("b", on: "chat", to: client)
        #expect(titles.values == ["a", "b"])
        sink.cancel()
    }

    @Test func `values come with their messages, to loops and publishers`() async throws {
        let client = FakeClient()
        let topics = Series<String>()
        let sink = client.messagePublisher(topic: "chat/#").sink { (note: Received<Note>) in topics.append(note.topic) }
        var notes = client.messages(Received<Note>.self, from: "chat/+/notes").makeAsyncIterator()
        try send("a", on: "chat/7/notes", to: client)
        let note = try #require(try await notes.next())
        #expect(note.value == Note(title: "a"))
        #expect(note.topic == "chat/7/notes")
        #expect(topics.values == ["chat/7/notes"])
        sink.cancel()
    }

    @Test func `a filter that is not legal ends the loop with an error`() async {
        var notes = FakeClient().messages(Note.self, from: "a/#/b").makeAsyncIterator()
        await #expect(throws: CourierError.self) { try await notes.next() }
    }

    @Test func `a session exists from connect() until destroy()`() {
        let client = FakeClient()
        #expect(!client.hasExistingSession)
        client.connect()
        client.disconnect()
        #expect(client.hasExistingSession)
        client.destroy()
        #expect(!client.hasExistingSession)
    }

    @Test func `docs/testing.md shows this client`() throws {
        func text(_ path: String) throws -> String {
            let folder = URL(filePath: #filePath).resolvingSymlinksInPath().deletingLastPathComponent()
            return try String(contentsOf: folder.appending(path: path).standardized, encoding: .utf8)
        }
        let (page, client) = (try text("../../../docs/testing.md"), try text("../Support/FakeClient.swift"))
        #expect(page.contains(client))
    }
}
