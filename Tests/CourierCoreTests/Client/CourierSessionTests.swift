import CourierCore
import Foundation
import Synchronization
import TestSupport
import Testing

@Suite struct CourierSessionTests {
    private struct Note: Equatable { let title: String }

    @Test func `the short forms are spelled in terms of the requirements`() {
        let client = MockClient()
        client.connect()
        client.subscribe(("a", .zero), ("b", .one))
        client.subscribe([("c", .two)])
        client.unsubscribe("a", "b")
        client.unsubscribe(["c"])
        let expected = ["connect app", "subscribe a0 b1", "subscribe c2", "unsubscribe a b", "unsubscribe c"]
        #expect(client.calls.values == expected)
    }

    @Test func `a client's own short forms are the ones that are called through the protocol`() {
        let client = OverridingClient()
        let session: any CourierSession = client
        session.connect()
        session.subscribe(("a", .zero))
        session.unsubscribe("a")
        #expect(client.mock.calls.values == ["own connect", "own subscribe", "own unsubscribe"])
    }

    @Test func `publish to a text and to a typed topic fills in the request`() async throws {
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

    @Test func `subscribe and unsubscribe take a typed topic, and its quality of service`() async throws {
        let client = MockClient()
        let notes = Topic<Note>("chat/{room}/notes", qos: .two)
        #expect(try await client.subscribe(to: notes) == .two)
        #expect(try await client.subscribe(to: notes(room: "7"), qos: .zero) == .zero)
        #expect(client.subscriptions.values.map(\.topic.description) == ["chat/{room}/notes", "chat/{room}/notes"])
        try await client.unsubscribe(from: notes)
        #expect(client.calls.values == ["unsubscribe chat/+/notes"])
    }

    @Test func `data and text are published with properties or without`() throws {
        let client = MockClient()
        let properties = MessageProperties(contentType: "text/plain")
        try client.publish(data: Data([97]), to: "a", properties: properties)
        try client.publish(text: "b", to: "b", retain: true, properties: properties) { _ in }
        try client.publish(data: Data([99]), to: "c")
        try client.publish(text: "d", to: "d") { _ in }
        #expect(client.published.values == ["a a text/plain", "b b text/plain", "c c none", "d d none"])
    }

    @Test func `a mistake in a typed topic surfaces at publish`() async {
        let client = MockClient()
        let notes = Topic<Note>("chat/{room}/notes")
        for topic in [notes, notes(room: "a/b"), Topic("{")] {
            await #expect(throws: CourierError.self) { try await client.publish(Note(title: "x"), to: topic) }
        }
    }

    @Test func `messages of a text and of a typed topic fill in the request`() throws {
        let client = MockClient()
        _ = client.messages(Note.self, from: "chat/+/notes", qos: .zero)
        _ = client.messages(from: Topic<Note>("chat/{room}/notes", qos: .two))
        let requests = client.subscriptions.values
        #expect(try requests.map { try $0.topic.filter(for: nil).string } == ["chat/+/notes", "chat/+/notes"])
        #expect(requests.map(\.qos) == [.zero, .two])
    }

    @Test func `states begin with the present one and end with the client`() async {
        var client: MockClient? = MockClient()
        let states = client?.states
        client?.state.send(.connected)
        client = nil
        var seen: [ConnectionState] = []
        if let states { for await state in states { seen.append(state) } }
        #expect(seen == [.connected])
    }

    @Test func `events are a sequence of what the publisher publishes`() async {
        let client = MockClient()
        var iterator = client.events.makeAsyncIterator()
        client.happened.send(CourierEvent(connectionInfo: nil, type: .reconnect))
        guard case .reconnect? = await iterator.next()?.type else {
            Issue.record("no reconnect")
            return
        }
    }
}

private final class MockClient: CourierClient, QuietSession {
    let calls = Series<String>()
    let requests = Series<PublishRequest>()
    let subscriptions = Series<SubscriptionRequest>()
    let published = Series<String>()
    let state = CurrentValueSubject<ConnectionState, Never>(.disconnected)
    let happened = PassthroughSubject<CourierEvent, Never>()

    var hasExistingSession: Bool { false }
    var connectionState: ConnectionState { state.value }
    var connectionStatePublisher: AnyPublisher<ConnectionState, Never> { state.eraseToAnyPublisher() }
    var eventPublisher: AnyPublisher<CourierEvent, Never> { happened.eraseToAnyPublisher() }

    func addEventHandler(_ handler: any ICourierEventHandler) {}
    func removeEventHandler(_ handler: any ICourierEventHandler) {}
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
    func messagePublisher<D: Sendable, E>(
        topic: String, errorDecodeHandler: @escaping @Sendable (E) -> any Error
    ) -> AnyPublisher<Result<D, NSError>, Never> {
        PassthroughSubject<Result<D, NSError>, Never>().eraseToAnyPublisher()
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
    func unsubscribe(from topic: TopicTemplate) async throws {
        let filter = try topic.filter(for: nil)
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

/// What no test here looks at.
private protocol QuietSession: CourierSession {}

extension QuietSession {
    var deadLetterPublisher: AnyPublisher<DeadLetter, Never> {
        PassthroughSubject<DeadLetter, Never>().eraseToAnyPublisher()
    }
    func subscribe(_ request: SubscriptionRequest) async throws -> QoS { request.qos }
    func unsubscribe(from topic: TopicTemplate) async throws {}
    nonisolated(nonsending) func enqueue<Value>(_ value: Value, as request: PublishRequest) async throws {}
    func readyToPublish() async throws {}
    func request<Question, Answer: Sendable>(
        _ question: Question, to topic: String, timeout: Duration, as type: Answer.Type
    ) async throws -> Answer { throw CourierError(.timedOut, "Nobody answers here.") }
    func respond<Question: Sendable, Answer>(
        to filter: String, qos: QoS, handler: @escaping @Sendable (Question) async throws -> Answer
    ) async throws {}
    func connect(completion: @escaping @Sendable (Result<Void, CourierError>) -> Void) { completion(.success(())) }
    func disconnect(completion: @escaping @Sendable (Result<Void, CourierError>) -> Void) { completion(.success(())) }
    func publish(
        bytes: [UInt8], to topic: String, qos: QoS, retain: Bool, properties: MessageProperties,
        completion: (@Sendable (Result<PublishReceipt, CourierError>) -> Void)?
    ) throws { completion?(.success(PublishReceipt())) }
    func subscribe(
        _ filter: String, qos: QoS, completion: @escaping @Sendable (Result<QoS, CourierError>) -> Void
    ) { completion(.success(qos)) }
    func unsubscribe(_ filter: String, completion: @escaping @Sendable (Result<Void, CourierError>) -> Void) {
        completion(.success(()))
    }
}

/// Has short forms of its own, as a mock written for the published API has.
private final class OverridingClient: QuietSession {
    let mock = MockClient()

    func connect() { mock.calls.append("own connect") }
    func subscribe(_ topics: (topic: String, qos: QoS)...) { mock.calls.append("own subscribe") }
    func unsubscribe(_ topics: String...) { mock.calls.append("own unsubscribe") }

    var connectionState: ConnectionState { mock.connectionState }
    var connectionStatePublisher: AnyPublisher<ConnectionState, Never> { mock.connectionStatePublisher }
    var eventPublisher: AnyPublisher<CourierEvent, Never> { mock.eventPublisher }
    func addEventHandler(_ handler: any ICourierEventHandler) {}
    func removeEventHandler(_ handler: any ICourierEventHandler) {}
    func connect(source: String) {}
    func subscribe(_ topics: [(topic: String, qos: QoS)]) {}
    func unsubscribe(_ topics: [String]) {}
    func publishMessage<E>(_ data: E, topic: String, qos: QoS) throws {}
    func messagePublisher<D: Sendable>(topic: String) -> AnyPublisher<D, Never> { mock.messagePublisher(topic: topic) }
    func messagePublisher<D: Sendable, E>(
        topic: String, errorDecodeHandler: @escaping @Sendable (E) -> any Error
    ) -> AnyPublisher<Result<D, NSError>, Never> {
        mock.messagePublisher(topic: topic, errorDecodeHandler: errorDecodeHandler)
    }
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
