import CourierCore
import CourierTesting
import Foundation
import TestSupport
import Testing

@Suite(.timeLimit(.minutes(1))) struct FakeClientTests {
    private struct Note: Codable, Equatable { let title: String }

    @Test func `a loop receives messages that match its filter in order, and no other messages`()
        async throws
    {
        let client = FakeClient()
        var notes = client.messages(Note.self, from: "chat/+/notes").makeAsyncIterator()
        try client.send(Note(title: "a"), to: "chat/7/notes")
        try client.send(Note(title: "x"), to: "chat/7/files")
        try client.send(Note(title: "b"), to: "chat/8/notes")
        #expect(try await notes.next() == Note(title: "a"))
        #expect(try await notes.next() == Note(title: "b"))
    }

    @Test func `messagePublisher accepts a filter with a wildcard`() throws {
        let client = FakeClient()
        let titles = Series<String>()
        let sink = client.messagePublisher(topic: "chat/#").sink { (note: Note) in titles.append(note.title) }
        try client.send(Note(title: "a"), to: "chat/7/notes")
        try client.send(Note(title: "x"), to: "news")
        try client.send(Note(title: "b"), to: "chat")
        #expect(titles.values == ["a", "b"])
        sink.cancel()
    }

    @Test func `loops and publishers can receive each value together with the topic of its message`() async throws {
        let client = FakeClient()
        let topics = Series<String>()
        let sink = client.messagePublisher(topic: "chat/#").sink { (note: Received<Note>) in topics.append(note.topic) }
        var notes = client.messages(Received<Note>.self, from: "chat/+/notes").makeAsyncIterator()
        try client.send(Note(title: "a"), to: "chat/7/notes")
        let note = try #require(try await notes.next())
        #expect(note.value == Note(title: "a"))
        #expect(note.topic == "chat/7/notes")
        #expect(topics.values == ["chat/7/notes"])
        sink.cancel()
    }

    @Test func `a loop over messages() with an invalid filter throws an error`() async {
        var notes = FakeClient().messages(Note.self, from: "a/#/b").makeAsyncIterator()
        await #expect(throws: CourierError.self) { try await notes.next() }
    }

    @Test func `hasExistingSession is true from connect() until destroy()`() {
        let client = FakeClient()
        #expect(!client.hasExistingSession)
        client.connect()
        client.disconnect()
        #expect(client.hasExistingSession)
        client.destroy()
        #expect(!client.hasExistingSession)
    }

    @Test func `published messages are recorded in order, as values and as bytes`() async throws {
        let client = FakeClient()
        client.connect()
        try await client.publish(Note(title: "a"), to: "chat/7/notes", qos: .two, retain: true)
        try client.publishMessage(Note(title: "b"), topic: "chat/8/notes", qos: .zero)
        try await client.enqueue(Note(title: "c"), to: "chat/7/notes")
        try await client.publish(Data([1, 2]), to: "raw")
        #expect(try client.published(Note.self, to: "chat/+/notes").map(\.title) == ["a", "b", "c"])
        #expect(client.published.map(\.topic) == ["chat/7/notes", "chat/8/notes", "chat/7/notes", "raw"])
        #expect(client.published[0].qos == .two && client.published[0].isRetained)
        #expect(client.published[3].data == Data([1, 2]))
        #expect(throws: CourierError.self) { try client.published(Note.self, to: "raw") }
    }

    @Test func `publish(data) with a completion records the message and reports success`() async throws {
        let client = FakeClient()
        client.connect()
        let receipt = try await withCheckedThrowingContinuation { continuation in
            do {
                try client.publish(data: Data([7]), to: "raw") { continuation.resume(with: $0) }
            } catch {
                continuation.resume(throwing: error)
            }
        }
        #expect(receipt.reasonCode == .success)
        #expect(client.published.map(\.data) == [Data([7])])
    }

    @Test func `publish() calls are recorded in order, and completions are called before publish() returns`() throws {
        let client = FakeClient()
        client.connect()
        let results = Series<String>()
        for number in 0..<100 {
            try client.publish(bytes: [UInt8(number)], to: "bytes") { _ in results.append("bytes") }
            try client.publish(data: Data([UInt8(number)]), to: "data") { _ in results.append("data") }
            try client.publish(text: "\(number)", to: "text") { _ in results.append("text") }
        }
        #expect(client.published.map(\.topic) == results.values)
        #expect(client.published.count == 300)
        #expect(client.published.filter { $0.topic == "bytes" }.map { $0.data[0] } == (0..<100).map { UInt8($0) })
    }

    @Test func `publish() throws sessionMissing before connect() and after destroy()`() async {
        let client = FakeClient()
        for _ in 0..<2 {
            let error = await #expect(throws: CourierError.self) { try await client.publish(Note(title: "a"), to: "a") }
            #expect(error?.code == .sessionMissing)
            let atOnce = #expect(throws: CourierError.self) { try client.publish(text: "a", to: "a") }
            #expect(atOnce?.code == .sessionMissing)
            client.connect()
            client.destroy()
        }
    }

    @Test func `if publish() throws, the completion that was passed to publish() is not called`() {
        let client = FakeClient()
        client.connect()
        let topic = #expect(throws: CourierError.self) {
            try client.publish(text: "a", to: "a/#") { _ in Issue.record("called") }
        }
        #expect(topic?.code == .invalidTopicName)
        client.failPublishes(with: CourierError(.queueFull, "full"))
        let full = #expect(throws: CourierError.self) {
            try client.publish(bytes: [1], to: "a") { _ in Issue.record("called") }
        }
        #expect(full?.code == .queueFull)
    }

    @Test func `publish() throws the error set by failPublishes() until the error is reset`() async throws {
        let client = FakeClient()
        client.connect()
        client.failPublishes(with: CourierError(.queueFull, "full"))
        let error = await #expect(throws: CourierError.self) { try await client.publish(Note(title: "a"), to: "a") }
        #expect(error?.code == .queueFull)
        client.failPublishes(with: nil)
        try await client.publish(Note(title: "b"), to: "a")
        #expect(try client.published(Note.self, to: "a") == [Note(title: "b")])
    }

    @Test func `waitForPublished() returns after the given number of published messages`() async throws {
        let client = FakeClient()
        client.connect()
        async let published = client.waitForPublished(count: 2)
        try await client.publish(Note(title: "a"), to: "a")
        try await client.publish(Note(title: "b"), to: "b")
        #expect(await published.map(\.topic) == ["a", "b"])
    }

    @Test func `waitForReader() returns when a loop starts, and the subscription is removed when the loop ends`()
        async throws
    {
        let client = FakeClient()
        let reading = Task {
            for try await note in client.messages(Note.self, from: "chat/+/notes") { return note }
            return Note(title: "none")
        }
        try await client.waitForReader(of: "chat/7/notes")
        #expect(client.subscriptions == ["chat/+/notes"])
        try client.send(Note(title: "a"), to: "chat/7/notes")
        #expect(try await reading.value == Note(title: "a"))
        #expect(client.subscriptions.isEmpty)
    }

    @Test func `a subscribed sequence receives messages that are sent before its loop starts`() async throws {
        let client = FakeClient()
        let notes = try await client.messages(Note.self, from: "a").subscribed()
        for number in 0..<1_000 { try client.send(Note(title: "\(number)"), to: "a") }
        var count = 0
        for try await note in notes.prefix(1_000) {
            #expect(note.title == "\(count)")
            count += 1
        }
        #expect(count == 1_000)
    }

    @Test func `subscriptions lists the filters passed to subscribe() until unsubscribe() is called`() async throws {
        let client = FakeClient()
        #expect(try await client.subscribe(to: "a/+", qos: .two) == .two)
        try await client.subscribe(to: "b")
        #expect(client.subscriptions == ["a/+", "b"])
        try await client.unsubscribe(from: "a/+")
        #expect(client.subscriptions == ["b"])
    }

    @Test func `subscribe() and unsubscribe() without await take effect before they return`() {
        let client = FakeClient()
        let granted = Series<QoS>()
        let refused = Series<CourierError.Code>()
        for _ in 0..<100 {
            client.subscribe(("a", .one), ("b", .two))
            client.subscribe("c", qos: .two) { if case .success(let qos) = $0 { granted.append(qos) } }
            #expect(client.subscriptions == ["a", "b", "c"])
            client.unsubscribe("a", "b")
            client.unsubscribe("c") { _ in }
            #expect(client.subscriptions.isEmpty)
        }
        client.subscribe("a/#/b", qos: .one) { if case .failure(let error) = $0 { refused.append(error.code) } }
        #expect(granted.values.count == 100)
        #expect(refused.values == [.invalidTopicFilter])
        client.subscribe(("a", .one))
        client.destroy()
        #expect(client.subscriptions.isEmpty)
    }

    @Test func `the client is already connected when the completion of connect() is called`() {
        let client = FakeClient()
        let states = Series<ConnectionState>()
        client.connect { _ in states.append(client.connectionState) }
        #expect(states.values == [.connected])
    }

    @Test func `a sink receives every message, even messages that are sent while the sink runs`() throws {
        let client = FakeClient()
        let titles = Series<String>()
        let sink = client.messagePublisher(topic: "a").sink { (note: Note) in
            titles.append(note.title)
            guard note.title == "first" else { return }
            for number in 0..<3_000 { try? client.send(Note(title: "\(number)"), to: "a") }
        }
        try client.send(Note(title: "first"), to: "a")
        #expect(titles.values == ["first"] + (0..<3_000).map { "\($0)" })
        sink.cancel()
    }

    @Test func `connected() returns when the test sets the state to connected`() async throws {
        let client = FakeClient()
        let missing = await #expect(throws: CourierError.self) { try await client.connected() }
        #expect(missing?.code == .sessionMissing)
        client.connect()
        client.show(.connecting)
        let late = await #expect(throws: CourierError.self) { try await client.connected(timeout: .milliseconds(1)) }
        #expect(late?.code == .timedOut)
        async let connected: Void = client.connected()
        client.show(.connected)
        try await connected
    }

    @Test(arguments: [nil, LoopSubscriptions.keep, .remove])
    func `shutdown() ends loops, but removes their subscriptions only if the option remove is set`(
        subscriptions: LoopSubscriptions?
    ) async throws {
        let client = FakeClient()
        client.connect()
        let notes = try await client.messages(Note.self, from: "chat/+/notes").subscribed()
        try client.send(Note(title: "a"), to: "chat/7/notes")
        await client.shutdown(subscriptions: subscriptions)
        var titles: [String] = []
        for try await note in notes { titles.append(note.title) }
        #expect(titles == ["a"])
        #expect(client.connectionState == .disconnected)
        #expect(client.subscriptions == (subscriptions == .remove ? [] : ["chat/+/notes"]))
    }

    @Test func `messagePublisher() delivers a failure for a payload that can be decoded as the given error type`()
        throws
    {
        struct Problem: Codable, Error { let reason: String }
        let client = FakeClient()
        let seen = Series<String>()
        let sink = client.messagePublisher(topic: "a") { (problem: Problem) in problem }
            .sink { (result: Result<Note, NSError>) in
                switch result {
                case .success(let note): seen.append(note.title)
                case .failure(let error):
                    seen.append((error.userInfo[NSUnderlyingErrorKey] as? Problem)?.reason ?? "\(error)")
                }
            }
        try client.send(Note(title: "a"), to: "a")
        try client.send(Problem(reason: "b"), to: "a")
        #expect(seen.values == ["a", "b"])
        sink.cancel()
    }

    @Test func `a custom message adapter is used instead of JSON`() async throws {
        let client = FakeClient(messageAdapters: [ReversedText()])
        client.connect()
        try await client.publish("abc", to: "a")
        #expect(client.published.map(\.payloadString) == ["cba"])
        #expect(try client.published(String.self, to: "a") == ["abc"])
    }

    private struct ReversedText: MessageAdapter {
        let contentType = "text/reversed"
        private struct NoText: Error {}
        func fromMessage<T>(_ message: Data, topic: String) throws -> T {
            guard let text = String(String(decoding: message, as: UTF8.self).reversed()) as? T else { throw NoText() }
            return text
        }
        func toMessage<T>(data: T, topic: String) throws -> Data {
            guard let text = data as? String else { throw NoText() }
            return Data(String(text.reversed()).utf8)
        }
    }
}
