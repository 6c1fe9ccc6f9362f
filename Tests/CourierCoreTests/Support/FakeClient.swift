import CourierCore
import Foundation
import Synchronization

/// A client that connects at once, keeps what is published, and delivers what the test says, as JSON.
final class FakeClient: CourierClient {
    let published = Mutex<[(topic: String, value: any Sendable)]>([])
    let state = CurrentValueSubject<ConnectionState, Never>(.disconnected)
    let incoming = PassthroughSubject<Message, Never>()
    private let session = Mutex(false)
    private let happened = PassthroughSubject<CourierEvent, Never>()
    private let letters = PassthroughSubject<DeadLetter, Never>()

    // What the app's code uses, and the test looks at.

    var hasExistingSession: Bool { session.withLock { $0 } }
    var connectionState: ConnectionState { state.value }
    var connectionStatePublisher: AnyPublisher<ConnectionState, Never> { state.eraseToAnyPublisher() }
    func connect(source: String) {
        session.withLock { $0 = true }
        state.send(.connected)
    }
    func disconnect() { state.send(.disconnected) }
    func destroy() {
        session.withLock { $0 = false }
        state.send(.disconnected)
    }
    func connected(timeout: Duration?) async throws {}

    nonisolated(nonsending) func publish<Value>(
        _ value: Value, as request: PublishRequest
    ) async throws -> PublishReceipt {
        try publishMessage(value, topic: request.topic.name(for: nil).string, qos: request.qos)
        return PublishReceipt()
    }
    func publishMessage<E>(_ data: E, topic: String, qos: QoS) throws {
        let copy = "\(data)"  // A text, because a value need not be Sendable.
        published.withLock { $0.append((topic, copy)) }
    }
    func messages<Value: Sendable>(_ type: Value.Type, as request: SubscriptionRequest) -> MessageSequence<Value> {
        MessageSequence { [self] in FakeSource<Value> { try values(of: request.topic.filter(for: nil)) } }
    }
    func messagePublisher<D: Sendable>(topic: String) -> AnyPublisher<D, Never> {
        guard let filter = try? TopicFilter(topic) else {
            return PassthroughSubject<D, Never>().eraseToAnyPublisher()
        }
        return values(of: filter)
    }
    func messagePublisher() -> AnyPublisher<Message, Never> { incoming.eraseToAnyPublisher() }

    private func values<Value: Sendable>(of filter: TopicFilter) -> AnyPublisher<Value, Never> {
        messagePublisher().compactMap { message -> Value? in
            guard let topic = try? TopicName(message.topic), filter.matches(topic) else { return nil }
            return Self.value(Value.self, of: message)
        }
    }
    private static func value<Value>(_ type: Value.Type, of message: Message) -> Value? {
        if let whole = type as? any ValueWithMessage.Type { return Self.whole(whole, of: message) as? Value }
        guard let type = type as? any Decodable.Type else { return message as? Value }
        return try? JSONDecoder().decode(type, from: message.data) as? Value
    }
    /// A value with its message, such as `Received<Note>`.
    private static func whole<Whole: ValueWithMessage>(_: Whole.Type, of message: Message) -> (any Sendable)? {
        value(Whole.Value.self, of: message).map { Whole(value: $0, message: message) }
    }

    // What it does not use.

    var eventPublisher: AnyPublisher<CourierEvent, Never> { happened.eraseToAnyPublisher() }
    var deadLetterPublisher: AnyPublisher<DeadLetter, Never> { letters.eraseToAnyPublisher() }
    func addEventHandler(_ handler: any ICourierEventHandler) {}
    func removeEventHandler(_ handler: any ICourierEventHandler) {}
    func subscribe(_ topics: [(topic: String, qos: QoS)]) {}
    func unsubscribe(_ topics: [String]) {}
    func subscribe(_ request: SubscriptionRequest) async throws -> QoS { request.qos }
    func unsubscribe(from topic: TopicTemplate) async throws {}
    func subscribe(_ filter: String, qos: QoS, completion: @escaping @Sendable (Result<QoS, CourierError>) -> Void) {}
    func unsubscribe(_ filter: String, completion: @escaping @Sendable (Result<Void, CourierError>) -> Void) {}
    func connect(completion: @escaping @Sendable (Result<Void, CourierError>) -> Void) {}
    func disconnect(completion: @escaping @Sendable (Result<Void, CourierError>) -> Void) {
        disconnect()
        completion(.success(()))
    }
    func readyToPublish() async throws {}
    nonisolated(nonsending) func enqueue<Value>(_ value: Value, as request: PublishRequest) async throws {}
    func publish(
        bytes: [UInt8], to topic: String, qos: QoS, retain: Bool, properties: MessageProperties,
        completion: (@Sendable (Result<PublishReceipt, CourierError>) -> Void)?
    ) throws {}
    func messagePublisher<D: Sendable, E>(
        topic: String, errorDecodeHandler: @escaping @Sendable (E) -> any Error
    ) -> AnyPublisher<Result<D, NSError>, Never> {
        PassthroughSubject<Result<D, NSError>, Never>().eraseToAnyPublisher()
    }
    func request<Question, Answer: Sendable>(
        _ question: Question, to topic: String, timeout: Duration, as type: Answer.Type
    ) async throws -> Answer { throw CourierError(.timedOut, "Nobody answers in this test.") }
    func respond<Question: Sendable, Answer>(
        to filter: String, qos: QoS, handler: @escaping @Sendable (Question) async throws -> Answer
    ) async throws {}
}

/// What one loop reads: the values of a publisher from the loop's start on, until its task is cancelled.
///
/// Safe to share: only `nextBatch()` touches the iterator, and it is never called twice at once.
final class FakeSource<Element: Sendable>: MessageSource, @unchecked Sendable {
    private var iterator: PublisherValues<Element, Never>.Iterator?
    private let failure: (any Error)?

    init(_ open: () throws -> AnyPublisher<Element, Never>) {
        do {
            iterator = try open().values.makeAsyncIterator()
            failure = nil
        } catch {
            failure = error
        }
    }

    nonisolated(nonsending) func nextBatch() async throws -> [Element] {
        if let failure { throw failure }
        guard let value = await iterator?.next() else { return [] }
        return [value]
    }

    func cancel(unread count: Int) {}  // A batch of one leaves nothing unread.
}
