import CourierCore
import Foundation

/// The client that the factory returns for a configuration with a mistake. Every call that can fail reports this
/// mistake.
final class MisconfiguredClient: CourierClient {
    private let problem: CourierError
    private let deliveryQueue: DispatchQueue
    private let events: EventHub
    private let completions: CompletionQueue
    private let state = CurrentValueSubject<ConnectionState, Never>(.disconnected)

    init(_ problem: CourierError, deliveryQueue: DispatchQueue, log: (any LogHandler)?) {
        self.problem = problem
        self.deliveryQueue = deliveryQueue
        events = EventHub(queue: deliveryQueue)
        completions = CompletionQueue(deliveryQueue)
        log?.log(.error, source: "configuration", problem.message)
    }

    var eventPublisher: AnyPublisher<CourierEvent, Never> { events.publisher }
    func addEventHandler(_ handler: any ICourierEventHandler) { events.add(handler) }
    func removeEventHandler(_ handler: any ICourierEventHandler) { events.remove(handler) }

    var connectionState: ConnectionState { .disconnected }
    var connectionStatePublisher: AnyPublisher<ConnectionState, Never> {
        state.eraseToAnyPublisher().receive(on: deliveryQueue)
    }
    var connectionStatus: ConnectionStatus { ConnectionStatus(.disconnected, failure: problem) }
    var connectionStatusPublisher: AnyPublisher<ConnectionStatus, Never> {
        connectionStatePublisher.map { [problem] in ConnectionStatus($0, failure: problem) }
    }
    var hasExistingSession: Bool { false }

    func connect(source: String) { events.tell(.connectDiscarded(reason: problem.message), nil) }
    func disconnect() {}
    func destroy() { events.reset() }

    func connect(completion: @escaping @Sendable (Result<Void, CourierError>) -> Void) {
        connect(source: "app")
        completions.add { [problem] in completion(.failure(problem)) }
    }

    func disconnect(completion: @escaping @Sendable (Result<Void, CourierError>) -> Void) {
        completions.add { [problem] in completion(.failure(problem)) }
    }

    func connected(timeout: Duration?) async throws { throw problem }

    func subscribe(_ topics: [(topic: String, qos: QoS)]) {
        events.tell(.subscribeFailure(topics: topics, timeTaken: 0, error: problem), nil)
    }

    func unsubscribe(_ topics: [String]) {
        events.tell(.unsubscribeFailure(topics: topics, timeTaken: 0, error: problem), nil)
    }

    func subscribe(_ filter: String, qos: QoS, completion: @escaping @Sendable (Result<QoS, CourierError>) -> Void) {
        completions.add { [problem] in completion(.failure(problem)) }
    }

    func unsubscribe(_ filter: String, completion: @escaping @Sendable (Result<Void, CourierError>) -> Void) {
        completions.add { [problem] in completion(.failure(problem)) }
    }

    func subscribe(_ request: SubscriptionRequest) async throws -> QoS { throw problem }
    func unsubscribe(_ request: UnsubscriptionRequest) async throws { throw problem }

    func disconnect(
        _ options: DisconnectOptions, completion: @escaping @Sendable (Result<Void, CourierError>) -> Void
    ) throws { throw problem }

    func publishMessage<E>(_ data: E, topic: String, qos: QoS) throws { throw problem }

    @discardableResult
    nonisolated(nonsending) func enqueue<Value>(
        _ value: Value, as request: PublishRequest
    ) async throws -> EnqueuedMessage {
        throw problem
    }

    nonisolated(nonsending) func publish<Value>(
        _ value: Value, as request: PublishRequest
    ) async throws -> PublishReceipt { throw problem }

    func publish(
        bytes: [UInt8], to topic: String, qos: QoS, retain: Bool, properties: MessageProperties,
        completion: (@Sendable (Result<PublishReceipt, CourierError>) -> Void)?
    ) throws { throw problem }

    func publish(
        span: RawSpan, to topic: String, qos: QoS, retain: Bool, properties: MessageProperties,
        completion: (@Sendable (Result<PublishReceipt, CourierError>) -> Void)?
    ) throws { throw problem }

    func readyToPublish() async throws { throw problem }

    func process<Value: Sendable>(
        _ type: Value.Type, as request: SubscriptionRequest, name: String?, policy: ProcessingPolicy<Value>,
        handler: @escaping @Sendable (Value, ProcessingContext) async throws -> Void
    ) throws -> any MessageProcessor { throw problem }

    func request<Request, Response: Sendable>(
        _ request: Request, at topic: TopicTemplate, timeout: Duration, as type: Response.Type
    ) async throws -> Response { throw problem }

    func respond<Request: Sendable, Response>(
        at topic: TopicTemplate, qos: QoS, handler: @escaping @Sendable (Request) async throws -> Response
    ) async throws { throw problem }

    func messagePublisher<D: Sendable>(topic: String) -> AnyPublisher<D, Never> { empty() }

    func messagePublisher<D: Sendable, E>(
        topic: String, errorDecodeHandler: @escaping @Sendable (E) -> any Error
    ) -> AnyPublisher<Result<D, NSError>, Never> { empty() }

    func messagePublisher() -> AnyPublisher<Message, Never> { empty() }
    var deadLetterPublisher: AnyPublisher<DeadLetter, Never> { empty() }

    func messages<Value: Sendable>(_ type: Value.Type, as request: SubscriptionRequest) -> MessageSequence<Value> {
        MessageSequence { [problem] in FailedSource(problem) }
    }

    /// Returns a publisher that finishes at once, on the delivery queue.
    private func empty<Output: Sendable>() -> AnyPublisher<Output, Never> {
        let subject = PassthroughSubject<Output, Never>()
        subject.send(completion: .finished)
        return subject.eraseToAnyPublisher().receive(on: deliveryQueue)
    }
}

/// A message source that always throws.
private final class FailedSource<Element: Sendable>: MessageSource {
    private let problem: CourierError

    init(_ problem: CourierError) { self.problem = problem }

    nonisolated(nonsending) func opened() async throws { throw problem }
    nonisolated(nonsending) func nextBatch() async throws -> [Element] { throw problem }

    func cancel(unread count: Int) {}
}
