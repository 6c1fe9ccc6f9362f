import CourierCore
import CourierTesting
import Foundation
import Testing

@testable import CourierMQTT

/// `Received` values, which contain the message that they were decoded from, in each API that decodes values.
@Suite(.timeLimit(.minutes(5))) struct ReceivedTests {
    private struct Note: Codable, Hashable, Sendable { var title: String }

    private static let notes = Topic<Note>("chat/{room}/notes")

    /// Runs `body` with a connected client and its broker.
    private static func withClient(_ body: (TestClient) async throws -> Void) async throws {
        let broker = try LoopbackBroker.start()
        let test = try TestClient(.local(broker.port))
        try await test.connect()
        try await body(test)
        try await test.end()
        await broker.shutdown()
    }

    @Test func `a loop over Received values gets the topic of each value`() async throws {
        try await Self.withClient { test in
            var notes = test.client.messages(Received<Note>.self, from: "chat/+/notes").makeAsyncIterator()
            try await test.client.subscribe(to: "chat/+/notes")
            for room in 1...3 { try await test.client.publish(Note(title: "\(room)"), to: Self.notes(room: room)) }
            for room in 1...3 {
                let note = try #require(try await notes.next())
                #expect(note.value == Note(title: "\(room)"))
                #expect(note.topic == "chat/\(room)/notes")
                #expect(note.message.qos == .one)
            }
        }
    }

    @Test func `arguments(in) of a Topic returns the placeholder values of a received message's topic`() async throws {
        try await Self.withClient { test in
            var notes = test.client.messages(Received<Note>.self, from: Self.notes).makeAsyncIterator()
            try await test.client.subscribe(to: Self.notes)
            try await test.client.publish(Note(title: "a"), to: Self.notes(room: "7"))
            let note = try #require(try await notes.next())
            #expect(try Self.notes.arguments(in: TopicName(note.topic)) == ["room": "7"])
        }
    }

    @Test func `a sink of Received values gets each value with its topic`() async throws {
        try await Self.withClient { test in
            let received = AsyncStream<Received<Note>>.makeStream()
            let reader = test.client.messagePublisher(topic: "chat/#")
                .sink { (note: Received<Note>) in received.continuation.yield(note) }
            try await test.client.subscribe(to: "chat/#")
            try await test.client.publish(Note(title: "a"), to: "chat/1")
            var notes = received.stream.makeAsyncIterator()
            let note = try #require(await notes.next())
            #expect(note.value == Note(title: "a"))
            #expect(note.topic == "chat/1")
            reader.cancel()
        }
    }

    @Test func `if a payload decodes as an error type, errorDecodeHandler receives the error value and its topic`()
        async throws
    {
        struct ServerError: Codable { let reason: String }
        struct Refusal: Error, Equatable {
            let topic: String
            let reason: String
        }
        try await Self.withClient { test in
            let results = AsyncStream<Result<Received<Note>, NSError>>.makeStream()
            let reader = test.client.messagePublisher(
                topic: "chat/#",
                errorDecodeHandler: { (error: Received<ServerError>) in
                    Refusal(topic: error.topic, reason: error.value.reason)
                }
            )
            .sink { (result: Result<Received<Note>, NSError>) in results.continuation.yield(result) }
            try await test.client.subscribe(to: "chat/#")
            try await test.client.publish(ServerError(reason: "full"), to: "chat/1")
            try await test.client.publish(Note(title: "a"), to: "chat/2")
            var iterator = results.stream.makeAsyncIterator()
            let error = try #require(await iterator.next()?.failure)
            #expect(error.userInfo[NSUnderlyingErrorKey] as? Refusal == Refusal(topic: "chat/1", reason: "full"))
            #expect(await iterator.next()?.success?.value == Note(title: "a"))
            reader.cancel()
        }
    }

    @Test func `a Received value is acknowledged through its message`() async throws {
        let broker = try LoopbackBroker.start()
        let test = try TestClient(.local(broker.port))
        try await test.connect()
        do {
            var notes = test.client.messages(Received<Note>.self, from: "n", acknowledge: .afterProcessing)
                .makeAsyncIterator()
            try await test.client.subscribe(to: "n")
            try await test.client.publish(Note(title: "first"), to: "n")
            let first = try #require(try await notes.next())
            first.message.acknowledge()
            try await test.client.publish(Note(title: "behind the acknowledgement"), to: "other")
            broker.dropConnections()
            try await test.wait(for: "connectionSuccess", count: 2)
            try await test.client.publish(Note(title: "second"), to: "n")
            // Without the acknowledgement, the broker would send the first message again.
            #expect(try await notes.next()?.value == Note(title: "second"))
        }
        try await test.end()
        await broker.shutdown()
    }

    @Test func `a decoding error names the type of the value instead of Received`() async throws {
        try await Self.withClient { test in
            var letters = test.client.deadLetters.makeAsyncIterator()
            var notes = test.client.messages(Received<Note>.self, from: "n").makeAsyncIterator()
            try await test.client.subscribe(to: "n")
            try test.client.publish(text: "not JSON", to: "n")
            try await test.client.publish(Note(title: "good"), to: "n")
            #expect(try await notes.next()?.value == Note(title: "good"))
            let letter = try #require(await letters.next())
            #expect(letter.error.message.contains("can decode Note from"))
        }
    }

    @Test func `request() and respond() support Received values with their topics`() async throws {
        try await Self.withClient { test in
            let server = Task {
                try await test.client.respond(to: "rooms/+/size") { (request: Received<Int>) in
                    "\(request.topic): \(request.value)"
                }
            }
            try await test.wait(for: "subscribeSuccess")
            let answer = try await test.client.request(
                7, to: "rooms/1/size", timeout: .seconds(60), as: Received<String>.self)
            #expect(answer.value == "rooms/1/size: 7")
            #expect(answer.topic.hasPrefix("courier/answers/"))
            server.cancel()
            _ = await server.result
        }
    }

    @Test func `Received can contain a Message, a String or another Received value`() throws {
        let registry = try AdapterRegistry([JSONMessageAdapter()])
        let message = Message(data: Data("[1]".utf8), topic: "n", qos: .zero)
        #expect(try ValueDecoder<Received<Message>>(registry).decode(message).value == message)
        #expect(try ValueDecoder<Received<String>>(registry).decode(message).value == "[1]")
        #expect(try ValueDecoder<Received<Received<[Int]>>>(registry).decode(message).value.value == [1])
    }
}
