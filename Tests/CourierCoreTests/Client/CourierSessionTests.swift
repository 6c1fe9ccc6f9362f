import CourierCore
import Foundation
import Synchronization
import TestSupport
import Testing

@Suite struct CourierSessionTests {
    private struct Note: Equatable { let title: String }

    @Test func `overloads of connect(), subscribe() and unsubscribe() call the required protocol methods`() {
        let client = MockClient()
        client.connect()
        client.subscribe(("a", .zero), ("b", .one))
        client.subscribe([("c", .two)])
        client.unsubscribe("a", "b")
        client.unsubscribe(["c"])
        let expected = ["connect app", "subscribe a0 b1", "subscribe c2", "unsubscribe a b", "unsubscribe c"]
        #expect(client.calls.values == expected)
    }

    @Test
    func `calls through the protocol CourierSession use the client's own connect(), subscribe() and unsubscribe()`() {
        let client = OverridingClient()
        let session: any CourierSession = client
        session.connect()
        session.subscribe(("a", .zero))
        session.unsubscribe("a")
        #expect(client.mock.calls.values == ["own connect", "own subscribe", "own unsubscribe"])
    }

    @Test func `publish() passes topic, QoS and retain flag to the request, for text and typed topics`() async throws {
        let client = MockClient()
        let notes = Topic<Note>("chat/{room}/notes", qos: .two)
        let receipt = try await client.publish(Note(title: "x"), to: "orders/%u", qos: .one, retain: true)
        #expect(receipt.reasonCode == .success)
        try await client.publish(Note(title: "x"), to: notes(room: "7"))
        let requests = client.requests.values
        #expect(try requests.map { try $0.topic.name(for: nil).string } == ["orders/%u", "chat/7/notes"])
        #expect(requests.map(\.qos) == [.one, .two])
        #expect(requests.map(\.isRetained) == [true, false])
    }

    @Test func `subscribe() uses a typed topic's QoS by default, unsubscribe() accepts a typed topic`() async throws {
        let client = MockClient()
        let notes = Topic<Note>("chat/{room}/notes", qos: .two)
        #expect(try await client.subscribe(to: notes) == .two)
        #expect(try await client.subscribe(to: notes(room: "7"), qos: .zero) == .zero)
        #expect(client.subscriptions.values.map(\.topic.description) == ["chat/{room}/notes", "chat/{room}/notes"])
        try await client.unsubscribe(from: notes)
        #expect(client.calls.values == ["unsubscribe chat/+/notes"])
    }

    @Test func `publish(data) and publish(text) pass the payload with or without message properties`() throws {
        let client = MockClient()
        let properties = MessageProperties(contentType: "text/plain")
        try client.publish(data: Data([97]), to: "a", properties: properties)
        try client.publish(text: "b", to: "b", retain: true, properties: properties) { _ in }
        try client.publish(data: Data([99]), to: "c")
        try client.publish(text: "d", to: "d") { _ in }
        #expect(client.published.values == ["a a text/plain", "b b text/plain", "c c none", "d d none"])
    }

    @Test func `publish() throws if a typed topic has an invalid template or a missing or invalid argument`() async {
        let client = MockClient()
        let notes = Topic<Note>("chat/{room}/notes")
        for topic in [notes, notes(room: "a/b"), Topic("{")] {
            await #expect(throws: CourierError.self) { try await client.publish(Note(title: "x"), to: topic) }
        }
    }

    @Test func `messages() passes topic filter and QoS to the request, for text and typed topics`() throws {
        let client = MockClient()
        _ = client.messages(Note.self, from: "chat/+/notes", qos: .zero)
        _ = client.messages(from: Topic<Note>("chat/{room}/notes", qos: .two))
        let requests = client.subscriptions.values
        #expect(try requests.map { try $0.topic.filter(for: nil).string } == ["chat/+/notes", "chat/+/notes"])
        #expect(requests.map(\.qos) == [.zero, .two])
    }

    @Test func `the states sequence starts with the current state and ends when the client is released`() async {
        var client: MockClient? = MockClient()
        let states = client?.states
        client?.state.send(.connected)
        client = nil
        var seen: [ConnectionState] = []
        if let states { for await state in states { seen.append(state) } }
        #expect(seen == [.connected])
    }

    @Test func `the events sequence yields the events of eventPublisher`() async {
        let client = MockClient()
        var iterator = client.events.makeAsyncIterator()
        client.happened.send(CourierEvent(connectionInfo: nil, type: .reconnect))
        guard case .reconnect? = await iterator.next()?.type else {
            Issue.record("no reconnect")
            return
        }
    }
}

/// The default implementations for a type that has only the thirteen required members.
@Suite(.timeLimit(.minutes(1))) struct CourierSessionDefaultsTests {
    @Test func `disconnectAndWait() and overloads with a completion call the required methods of CourierSession`()
        async throws
    {
        let client = SmallClient()
        let qos = await withCheckedContinuation { end in client.subscribe("a", qos: .two) { end.resume(returning: $0) }
        }
        #expect(try qos.get() == .two)
        let left = await withCheckedContinuation { end in client.unsubscribe("a") { end.resume(returning: $0) } }
        try left.get()
        let connected = await withCheckedContinuation { end in client.connect { end.resume(returning: $0) } }
        try connected.get()
        await client.disconnectAndWait()
        try await client.disconnectAndWait(DisconnectOptions(reasonString: "bye"))
        #expect(client.calls.values == ["subscribe a", "unsubscribe a", "connect app", "disconnect", "disconnect"])
    }

    @Test func `subscribe() and unsubscribe() with several topics call the protocol's required method once per topic`()
        async
    {
        let client = SmallClient()
        client.subscribe(("a", .zero), ("b", .one))
        client.unsubscribe("c")
        var calls: [String] = []
        for await call in client.ended.stream.prefix(3) { calls.append(call) }
        #expect(calls.sorted() == ["subscribe a", "subscribe b", "unsubscribe c"])
    }

    @Test func `subscribe() passes an error to the completion if the topic filter is invalid`() async {
        let client = SmallClient()
        let result = await withCheckedContinuation { end in
            client.subscribe("a/#/b", qos: .one) { end.resume(returning: $0) }
        }
        guard case .failure(let error) = result else {
            Issue.record("the filter was granted")
            return
        }
        #expect(error.code == .invalidTopicFilter)
    }

    @Test func `by default, enqueue() and publish(data) call the publish() method that the protocol requires`()
        async throws
    {
        let client = SmallClient()
        try await client.enqueue(Note(), to: "a")
        let result = try await withCheckedThrowingContinuation {
            (end: CheckedContinuation<PublishReceipt, any Error>) in
            do {
                try client.publish(data: Data([1]), to: "b") { end.resume(with: $0) }
            } catch {
                end.resume(throwing: error)
            }
        }
        #expect(result.reasonCode == .success)
        try await client.readyToPublish()
        #expect(client.calls.values == ["publish Note to a", "publish Data to b"])
    }

    @Test func `request() and respond() throw invalidConfiguration by default`() async {
        let client = SmallClient()
        let asked = await #expect(throws: CourierError.self) {
            let _: String = try await client.request("7", to: "rooms/latest")
        }
        #expect(asked?.code == .invalidConfiguration)
        let answered = await #expect(throws: CourierError.self) {
            try await client.respond(to: "rooms/latest") { (question: String) in question }
        }
        #expect(answered?.code == .invalidConfiguration)
    }

    @Test func `hasExistingSession is false when disconnected and true when connected, by default`() {
        let client = SmallClient()
        #expect(!client.hasExistingSession)
        client.state.send(.connected)
        #expect(client.hasExistingSession)
    }

    private struct Note {}

    private final class SmallClient: CourierClient {
        let calls = Series<String>()
        /// Repeats the calls of `subscribe` and `unsubscribe`, so that a test can wait for them.
        let ended = AsyncStream<String>.makeStream()
        let state = CurrentValueSubject<ConnectionState, Never>(.disconnected)

        var connectionState: ConnectionState { state.value }
        var connectionStatePublisher: AnyPublisher<ConnectionState, Never> { state.eraseToAnyPublisher() }
        func connect(source: String) { calls.append("connect \(source)") }
        func connected(timeout: Duration?) async throws {}
        func disconnect() { calls.append("disconnect") }
        func destroy() {}
        func subscribe(_ request: SubscriptionRequest) async throws -> QoS {
            let call = "subscribe \(try request.topic.filter(for: nil))"
            calls.append(call)
            ended.continuation.yield(call)
            return request.qos
        }
        func unsubscribe(_ request: UnsubscriptionRequest) async throws {
            let call = "unsubscribe \(try request.topic.filter(for: nil))"
            calls.append(call)
            ended.continuation.yield(call)
        }
        nonisolated(nonsending) func publish<Value>(
            _ value: Value, as request: PublishRequest
        ) async throws -> PublishReceipt {
            calls.append("publish \(Value.self) to \(request.topic)")
            return PublishReceipt()
        }
        func publishMessage<E>(_ data: E, topic: String, qos: QoS) throws {}
        func messages<Value: Sendable>(_ type: Value.Type, as request: SubscriptionRequest) -> MessageSequence<Value> {
            MessageSequence { EndedSource() }
        }
        func messagePublisher<D: Sendable>(topic: String) -> AnyPublisher<D, Never> {
            PassthroughSubject<D, Never>().eraseToAnyPublisher()
        }
        func messagePublisher() -> AnyPublisher<Message, Never> {
            PassthroughSubject<Message, Never>().eraseToAnyPublisher()
        }
    }
}

private final class MockClient: CourierClient {
    let calls = Series<String>()
    let requests = Series<PublishRequest>()
    let subscriptions = Series<SubscriptionRequest>()
    let published = Series<String>()
    let state = CurrentValueSubject<ConnectionState, Never>(.disconnected)
    let happened = PassthroughSubject<CourierEvent, Never>()

    var connectionState: ConnectionState { state.value }
    var connectionStatePublisher: AnyPublisher<ConnectionState, Never> { state.eraseToAnyPublisher() }
    var eventPublisher: AnyPublisher<CourierEvent, Never> { happened.eraseToAnyPublisher() }

    func connect(source: String) { calls.append("connect \(source)") }
    func disconnect() {}
    func destroy() {}
    func subscribe(_ topics: [(topic: String, qos: QoS)]) {
        calls.append("subscribe " + topics.map { "\($0.topic)\($0.qos.wireLevel)" }.joined(separator: " "))
    }
    func unsubscribe(_ topics: [String]) { calls.append("unsubscribe " + topics.joined(separator: " ")) }
    func publishMessage<E>(_ data: E, topic: String, qos: QoS) throws {}
    func messagePublisher<D: Sendable>(topic: String) -> AnyPublisher<D, Never> {
        PassthroughSubject<D, Never>().eraseToAnyPublisher()
    }
    func messagePublisher() -> AnyPublisher<Message, Never> {
        PassthroughSubject<Message, Never>().eraseToAnyPublisher()
    }
    func connected(timeout: Duration?) async throws {}
    nonisolated(nonsending) func publish<Value>(
        _ value: Value, as request: PublishRequest
    ) async throws -> PublishReceipt {
        _ = try request.topic.name(for: nil)
        requests.append(request)
        return PublishReceipt()
    }
    func messages<Value: Sendable>(_ type: Value.Type, as request: SubscriptionRequest) -> MessageSequence<Value> {
        subscriptions.append(request)
        return MessageSequence { EndedSource() }
    }
    func subscribe(_ request: SubscriptionRequest) async throws -> QoS {
        subscriptions.append(request)
        return request.qos
    }
    func unsubscribe(_ request: UnsubscriptionRequest) async throws {
        let filter = try request.topic.filter(for: nil)
        calls.append("unsubscribe \(filter)")
    }
    func publish(
        bytes: [UInt8], to topic: String, qos: QoS, retain: Bool, properties: MessageProperties,
        completion: (@Sendable (Result<PublishReceipt, CourierError>) -> Void)?
    ) throws {
        let text = String(decoding: bytes, as: UTF8.self)
        published.append("\(topic) \(text) \(properties.contentType ?? "none")")
    }
}

/// Has its own convenience methods, like a mock that was written for the published API.
private final class OverridingClient: CourierClient {
    let mock = MockClient()

    func connect() { mock.calls.append("own connect") }
    func subscribe(_ topics: (topic: String, qos: QoS)...) { mock.calls.append("own subscribe") }
    func unsubscribe(_ topics: String...) { mock.calls.append("own unsubscribe") }

    var connectionState: ConnectionState { mock.connectionState }
    var connectionStatePublisher: AnyPublisher<ConnectionState, Never> { mock.connectionStatePublisher }
    func connect(source: String) {}
    func disconnect() {}
    func destroy() {}
    func subscribe(_ request: SubscriptionRequest) async throws -> QoS { request.qos }
    func unsubscribe(_ request: UnsubscriptionRequest) async throws {}
    func publishMessage<E>(_ data: E, topic: String, qos: QoS) throws {}
    func messagePublisher<D: Sendable>(topic: String) -> AnyPublisher<D, Never> { mock.messagePublisher(topic: topic) }
    func messagePublisher() -> AnyPublisher<Message, Never> { mock.messagePublisher() }
    func connected(timeout: Duration?) async throws {}
    nonisolated(nonsending) func publish<Value>(
        _ value: Value, as request: PublishRequest
    ) async throws -> PublishReceipt {
        try await mock.publish(value, as: request)
    }
    func messages<Value: Sendable>(_ type: Value.Type, as request: SubscriptionRequest) -> MessageSequence<Value> {
        mock.messages(type, as: request)
    }
}

private final class EndedSource<Element: Sendable>: MessageSource {
    nonisolated(nonsending) func nextBatch() async throws -> [Element] { [] }
    func cancel(unread count: Int) {}
}
