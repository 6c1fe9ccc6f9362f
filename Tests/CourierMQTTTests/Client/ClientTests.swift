import CourierCore
import CourierTesting
import CourierTransport
import Foundation
import Synchronization
import Testing

@testable import CourierMQTT

@Suite(.timeLimit(.minutes(5))) struct ClientTests {
    struct Note: Codable, Hashable, Sendable {
        var title: String
        var number = 0
    }

    /// Creates a client and a broker for it.
    private static func pair(
        _ change: (inout MQTTClientConfig) -> Void = { _ in }
    ) throws -> (TestClient, LoopbackBroker) {
        let broker = try LoopbackBroker.start()
        return (try TestClient(.local(broker.port), change), broker)
    }

    private static func end(_ test: TestClient, _ broker: LoopbackBroker) async throws {
        try await test.end()
        await broker.shutdown()
    }

    @Test(arguments: [ProtocolVersionPolicy.version5, .version311])
    func `a published value is received as an equal value at every QoS`(_ version: ProtocolVersionPolicy) async throws {
        let (test, broker) = try Self.pair { $0.protocolVersion = version }
        let client = test.client
        try await test.connect()
        #expect(try await client.subscribe(to: "notes/+", qos: .two) == .two)
        var notes = client.messages(Note.self, from: "notes/+", qos: .two).makeAsyncIterator()
        for qos in [QoS.zero, .one, .two] {
            let receipt = try await client.publish(Note(title: "a", number: qos.rawValue), to: "notes/1", qos: qos)
            #expect(receipt.reasonCode == .success)
            #expect(try await notes.next() == Note(title: "a", number: qos.rawValue))
        }
        try await Self.end(test, broker)
    }

    @Test func `a message stream can be created before the client connects`() async throws {
        let (test, broker) = try Self.pair()
        var texts = test.client.messages(String.self, from: "a/#").makeAsyncIterator()
        var own = test.client.messages(from: Topic<String>("to/%c")).makeAsyncIterator()
        try await test.connect()
        try await test.wait("for both subscriptions") { events in
            events.count { $0.name == "subscribeSuccess" } >= 1
        }
        _ = try await test.client.subscribe(to: "to/+")
        try await test.client.publish("first", to: "a/b")
        try await test.client.publish("mine", to: Topic<String>("to/%c"))
        #expect(try await texts.next() == "first")
        #expect(try await own.next() == "mine")
        try await Self.end(test, broker)
    }

    @Test func `readers with overlapping filters each receive every message once`() async throws {
        let (test, broker) = try Self.pair()
        try await test.connect()
        var iterators = ["a/b", "a/+", "#"].map {
            test.client.messages(Message.self, from: $0).makeAsyncIterator()
        }
        for filter in ["a/b", "a/+", "#"] { try await test.client.subscribe(to: filter) }
        for number in 0..<20 { try await test.client.publish("\(number)", to: "a/b") }
        for index in iterators.indices {
            for number in 0..<20 { #expect(try await iterators[index].next()?.payloadString == "\(number)") }
        }
        try await Self.end(test, broker)
    }

    @Test func `a filter is unsubscribed once, when the last loop that reads its messages ends`() async throws {
        let (test, broker) = try Self.pair()
        try await test.connect()
        let client = test.client
        do {
            var first = client.messages(String.self, from: "a").makeAsyncIterator()
            var second = client.messages(String.self, from: "a").makeAsyncIterator()
            try await test.wait(for: "subscribeSuccess")
            try await client.publish("x", to: "a")
            #expect(try await first.next() == "x")
            #expect(try await second.next() == "x")
        }
        try await test.wait(for: "unsubscribeSuccess")
        #expect(test.eventNames.count { $0 == "unsubscribeAttempt" } == 1)
        try await Self.end(test, broker)
    }

    @Test func `message publishers call their sinks on the delivery queue`() async throws {
        let (test, broker) = try Self.pair()
        try await test.connect()
        let client = test.client
        let queue = test.queue
        let notes = AsyncStream<String>.makeStream()
        let raw = AsyncStream<String>.makeStream()
        var cancellables = Set<AnyCancellable>()
        client.messagePublisher(topic: "chat/+/notes")
            .filter { (note: Note) in note.number > 0 }
            .map { $0.title }
            .sink { title in
                dispatchPrecondition(condition: .onQueue(queue))
                notes.continuation.yield(title)
            }
            .store(in: &cancellables)
        client.messagePublisher()
            .sink { message in
                dispatchPrecondition(condition: .onQueue(queue))
                raw.continuation.yield(message.topic)
            }
            .store(in: &cancellables)
        try await client.subscribe(to: "chat/#")
        try client.publishMessage(Note(title: "no"), topic: "chat/1/notes", qos: .one)
        try client.publishMessage(Note(title: "yes", number: 1), topic: "chat/2/notes", qos: .two)
        var titles = notes.stream.makeAsyncIterator()
        #expect(await titles.next() == "yes")
        var topics = raw.stream.makeAsyncIterator()
        #expect(await topics.next() == "chat/1/notes")
        #expect(await topics.next() == "chat/2/notes")
        try await Self.end(test, broker)
    }

    @Test func `a message that cannot be decoded is reported as a dead letter and an event, and the loop continues`()
        async throws
    {
        let (test, broker) = try Self.pair()
        try await test.connect()
        let client = test.client
        var letters = client.deadLetters.makeAsyncIterator()
        var notes = client.messages(Note.self, from: "n").makeAsyncIterator()
        try await client.subscribe(to: "n")
        try client.publish(text: "not JSON", to: "n")
        try await client.publish(Note(title: "good"), to: "n")
        #expect(try await notes.next() == Note(title: "good"))
        let letter = try #require(await letters.next())
        #expect(letter.message.payloadString == "not JSON")
        #expect(letter.error.code == .decodingFailed)
        #expect(letter.error.message.contains("Note"))
        try await test.wait(for: "messageReceiveFailure")
        try await Self.end(test, broker)
    }

    @Test func `a payload that the errorDecodeHandler decodes is delivered as a failure`() async throws {
        struct Problem: Codable, Error { let reason: String }
        let (test, broker) = try Self.pair()
        try await test.connect()
        let results = AsyncStream<Result<Note, NSError>>.makeStream()
        let subscription = test.client.messagePublisher(
            topic: "n", errorDecodeHandler: { (problem: Problem) in problem }
        )
        .sink { (result: Result<Note, NSError>) in results.continuation.yield(result) }
        try await test.client.subscribe(to: "n")
        try await test.client.publish(Problem(reason: "full"), to: "n")
        try await test.client.publish(Note(title: "x"), to: "n")
        var iterator = results.stream.makeAsyncIterator()
        guard case .failure(let error)? = await iterator.next() else {
            Issue.record("no failure")
            return
        }
        #expect((error.userInfo[NSUnderlyingErrorKey] as? Problem)?.reason == "full")
        #expect(try await iterator.next()?.get() == Note(title: "x"))
        subscription.cancel()
        try await Self.end(test, broker)
    }

    @Test func `messages published before the connection are delivered after it, in order`() async throws {
        let (test, broker) = try Self.pair()
        let client = test.client
        // Subscribe first, so that the broker has the subscription before the messages arrive.
        var texts = client.messages(String.self, from: "n", qos: .two).makeAsyncIterator()
        client.connect()
        let receipts = try (0..<50).map { number in
            try Promise { done in
                try client.publish(text: "\(number)", to: "n", qos: number % 2 == 0 ? .one : .two, completion: done)
            }
        }
        for receipt in receipts { _ = try await receipt.value.get() }
        for number in 0..<50 { #expect(try await texts.next() == "\(number)") }
        try await Self.end(test, broker)
    }

    @Test func `publishMessage() and connected() throw if connect() was not called`() async throws {
        let (test, broker) = try Self.pair()
        #expect(throws: CourierError.self) { try test.client.publishMessage("x", topic: "n", qos: .one) }
        do {
            try await test.client.connected()
            Issue.record("connected without connect()")
        } catch let error as CourierError {
            #expect(error.code == .sessionMissing)
        }
        #expect(!test.client.hasExistingSession)
        try await test.connect()
        #expect(test.client.hasExistingSession)
        #expect(throws: CourierError.self) { try test.client.publishMessage("x", topic: "n/#", qos: .one) }
        try await Self.end(test, broker)
    }

    @Test func `after a lost connection, the client reconnects and its subscriptions still receive messages`()
        async throws
    {
        let (test, broker) = try Self.pair()
        let client = test.client
        try await test.connect()
        var texts = client.messages(String.self, from: "n").makeAsyncIterator()
        try await client.subscribe(to: "n")
        broker.dropConnections()
        try await test.wait(for: "connectionLost")
        try await client.publish("after", to: "n")
        #expect(try await texts.next() == "after")
        try await test.wait(for: "connectionSuccess", count: 2)  // Another queue delivers the events.
        #expect(test.eventNames.count { $0 == "reconnect" } == 1)
        #expect(test.eventNames.count { $0 == "connectionSuccess" } == 2)
        try await Self.end(test, broker)
    }

    @Test func `a message is acknowledged when the loop requests the next message`() async throws {
        let (test, broker) = try Self.pair()
        let client = test.client
        try await test.connect()
        do {
            var messages = client.messages(Message.self, from: "n", acknowledge: .afterProcessing).makeAsyncIterator()
            try await client.subscribe(to: "n")
            for number in 0..<3 { try client.publish(text: "\(number)", to: "n") }
            #expect(try await messages.next()?.payloadString == "0")
            #expect(try await messages.next()?.payloadString == "1")
            try await client.publish("behind the acknowledgement", to: "other")
            // Only the first message is acknowledged.
            broker.dropConnections()
            try await test.wait(for: "connectionSuccess", count: 2)
            #expect(try await messages.next()?.payloadString == "2")
            let again = try #require(await messages.next())
            #expect(again.payloadString == "1")
            #expect(again.isDuplicate)
            again.acknowledge()
            #expect(try await messages.next()?.payloadString == "2")
        }
        try await Self.end(test, broker)
    }

    @Test func `a request receives its response, and times out if no client responds`() async throws {
        let (test, broker) = try Self.pair()
        let asker = try TestClient(.local(broker.port))
        try await test.connect()
        try await asker.connect()
        let server = Task {
            try await test.client.respond(to: "square") { (number: Int) in number * number }
        }
        try await test.wait(for: "subscribeSuccess")
        let answers = try await withThrowingTaskGroup(of: Int.self) { group in
            for number in 1...10 {
                group.addTask { try await asker.client.request(number, to: "square", timeout: .seconds(60)) }
            }
            var sum = 0
            for try await answer in group { sum += answer }
            return sum
        }
        #expect(answers == 385)
        server.cancel()
        _ = await server.result
        do {
            let _: Int = try await asker.client.request(1, to: "nobody", timeout: .milliseconds(50))
            Issue.record("answered by nobody")
        } catch let error as CourierError {
            #expect(error.code == .timedOut)
        }
        try await asker.end()
        try await Self.end(test, broker)
    }

    @Test func `completion handlers receive the results of connect, subscribe, publish and unsubscribe`() async throws {
        let (test, broker) = try Self.pair()
        let client = test.client
        try await Promise { done in client.connect(completion: done) }.value.get()
        let granted = try await Promise { done in client.subscribe("a", qos: .two, completion: done) }.value
        #expect(try granted.get() == .two)
        let illegal = try await Promise { done in client.subscribe("a/#/b", qos: .two, completion: done) }.value
        #expect(throws: CourierError.self) { try illegal.get() }
        let receipt = try await Promise { done in try client.publish(text: "x", to: "a", completion: done) }.value
        #expect(try receipt.get().reasonCode == .success)
        try await Promise { done in client.unsubscribe("a", completion: done) }.value.get()
        try await Self.end(test, broker)
    }

    @Test func `destroy() makes a waiting publish() throw clientDestroyed, and later calls throw sessionMissing`()
        async throws
    {
        let (test, broker) = try Self.pair { $0.offline.overflow = .fail }
        let client = test.client
        try await test.connect()
        broker.dropConnections()
        await broker.shutdown()
        // The message was accepted when this line ends, because the task runs here until it waits.
        let waiting = Task.immediate { try await client.publish("x", to: "n") }
        client.destroy()
        do {
            _ = try await waiting.value
            Issue.record("published without a broker")
        } catch let error as CourierError {
            #expect(error.code == .clientDestroyed)
        }
        #expect(!client.hasExistingSession)
        // `connected()` throws the same code as `publish` after `destroy()`.
        let connected = await #expect(throws: CourierError.self) { try await client.connected() }
        #expect(connected?.code == .sessionMissing && connected?.message.contains("destroy()") == true)
        let published = await #expect(throws: CourierError.self) { try await client.publish("x", to: "n") }
        #expect(published?.code == .sessionMissing)
        try await test.end()
    }
}

/// Makes the result of a completion awaitable.
struct Promise<Value: Sendable>: Sendable {
    struct NeverCalled: Error {}

    private let stream: AsyncStream<Value>

    init(_ start: (@escaping @Sendable (Value) -> Void) throws -> Void) rethrows {
        let (stream, continuation) = AsyncStream<Value>.makeStream()
        self.stream = stream
        try start { value in
            continuation.yield(value)
            continuation.finish()
        }
    }

    /// Waits for the completion. Throws if it can no longer be called, or if the test is cancelled.
    var value: Value {
        get async throws {
            var iterator = stream.makeAsyncIterator()
            guard let value = await iterator.next() else { throw NeverCalled() }
            return value
        }
    }
}
