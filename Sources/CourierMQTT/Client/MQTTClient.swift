import CourierCore
import CourierSQLite
import CourierTransport
import Foundation
import MQTTCodec
import Synchronization

/// The client that an app uses. Every call is passed to the responsible part of the client. The client ends when its
/// last reference is released.
final class MQTTClient: CourierClient {
    let parts: ClientParts
    /// The requests that wait for responses; `nil` before the first request.
    private let madeRequests = Mutex<PendingRequests?>(nil)

    init(_ parts: ClientParts) { self.parts = parts }

    deinit {
        parts.coordinator.release()
        parts.ownStore?.release()
    }

    var requests: PendingRequests {
        madeRequests.part { PendingRequests(parts.coordinator, waiterCount: parts.waiterCount) }
    }

    /// The number of waiting continuations, for tests.
    var waitingCount: Int { parts.waiterCount.count + parts.publishing.queue.waitingTaskCount }

    // MARK: Events

    var eventPublisher: AnyPublisher<CourierEvent, Never> { parts.events.publisher }
    func addEventHandler(_ handler: any ICourierEventHandler) { parts.events.add(handler) }
    func removeEventHandler(_ handler: any ICourierEventHandler) { parts.events.remove(handler) }

    // MARK: The connection

    var connectionState: ConnectionState { parts.state.value }

    var connectionStatePublisher: AnyPublisher<ConnectionState, Never> {
        parts.state.eraseToAnyPublisher().receive(on: parts.deliveryQueue)
    }

    var connectionStatus: ConnectionStatus { parts.status.value }

    var connectionStatusPublisher: AnyPublisher<ConnectionStatus, Never> {
        parts.status.eraseToAnyPublisher().receive(on: parts.deliveryQueue)
    }

    var hasExistingSession: Bool { parts.coordinator.hasSession }

    func connect(source: String) { parts.coordinator.connect(source: source) }
    func disconnect() { parts.coordinator.disconnect() }

    func destroy() {
        parts.coordinator.destroy()
        // End the requests after the session was destroyed. Then no UNSUBSCRIBE is sent, because the subscriptions to
        // response topics do not exist any more.
        madeRequests.withLock { $0 }?.endAll(
            CourierError(.clientDestroyed, "The client was destroyed before the response arrived."))
    }

    func connect(completion: @escaping @Sendable (Result<Void, CourierError>) -> Void) {
        parts.coordinator.connect(source: "app")
        parts.coordinator.whenConnected { [completions = parts.completions] result in
            completions.add { completion(result) }
        }
    }

    func disconnect(completion: @escaping @Sendable (Result<Void, CourierError>) -> Void) {
        parts.coordinator.disconnect { [completions = parts.completions] result in
            completions.add { completion(result) }
        }
    }

    func disconnect(
        _ options: DisconnectOptions, completion: @escaping @Sendable (Result<Void, CourierError>) -> Void
    ) throws {
        try parts.coordinator.check(options)
        parts.coordinator.disconnect(options) { [completions = parts.completions] result in
            completions.add { completion(result) }
        }
    }

    var responseInformation: String? { parts.coordinator.agreement.withLock { $0.responseInformation } }

    func connected(timeout: Duration?) async throws {
        let waiter = Waiter<Void>(parts.waiterCount)
        let coordinator = parts.coordinator
        let key = coordinator.whenConnected { waiter.resume($0.mapError { $0 }) }
        let timer = timeout.map { timeout in
            LoopTimer(on: parts.loop, after: timeout) {
                waiter.resume(.failure(coordinator.noConnection(within: timeout)))
                coordinator.forgetConnectionWaiter(key)
            }
        }
        defer { timer?.cancel() }
        try await waiter.value { coordinator.forgetConnectionWaiter(key) }
    }

    // MARK: Subscriptions

    func subscribe(_ topics: [(topic: String, qos: QoS)]) {
        for (topic, qos) in topics { parts.coordinator.subscribe(topic, qos, told: nil) }
    }

    func unsubscribe(_ topics: [String]) {
        for topic in topics { parts.coordinator.unsubscribe(topic, told: nil) }
    }

    func subscribe(
        _ filter: String, qos: QoS, completion: @escaping @Sendable (Result<QoS, CourierError>) -> Void
    ) {
        parts.coordinator.subscribe(filter, qos) { [completions = parts.completions] result in
            completions.add { completion(result) }
        }
    }

    func unsubscribe(_ filter: String, completion: @escaping @Sendable (Result<Void, CourierError>) -> Void) {
        parts.coordinator.unsubscribe(filter) { [completions = parts.completions] result in
            completions.add { completion(result) }
        }
    }

    func subscribe(_ request: SubscriptionRequest) async throws -> QoS {
        let filter = try request.topic.filter(for: parts.publishing.identity)
        try request.properties?.check(filter: filter.string, parts.publishing.texts)
        let waiter = Waiter<QoS>(parts.waiterCount)
        let coordinator = parts.coordinator
        let key = coordinator.subscribe(filter.string, request.qos, properties: request.properties) {
            waiter.resume($0.mapError { $0 })
        }
        return try await waiter.value { coordinator.forgetSubscriptionWaiter(key) }
    }

    func unsubscribe(_ request: UnsubscriptionRequest) async throws {
        let filter = try request.topic.filter(for: parts.publishing.identity)
        if let problem = request.userProperties.problem(parts.publishing.texts) {
            throw CourierError(.invalidMessage, "The UNSUBSCRIBE for \(filter.string.quoted()) \(problem).")
        }
        let waiter = Waiter<Void>(parts.waiterCount)
        let coordinator = parts.coordinator
        let key = coordinator.unsubscribe(filter.string, userProperties: request.userProperties) {
            waiter.resume($0.mapError { $0 })
        }
        try await waiter.value { coordinator.forgetSubscriptionWaiter(key) }
    }

    // MARK: Publishing

    func publishMessage<E>(_ data: E, topic: String, qos: QoS) throws {
        try parts.publishing.publish(data, to: topic, qos)
    }

    nonisolated(nonsending) func publish<Value>(
        _ value: Value, as request: PublishRequest
    ) async throws -> PublishReceipt {
        try await parts.publishing.publishAndWait(value, as: request)
    }

    nonisolated(nonsending) func publish<Value>(
        _ value: Value, to topic: String, qos: QoS, retain: Bool, properties: MessageProperties
    ) async throws -> PublishReceipt {
        try await parts.publishing.publishAndWait(value, to: topic, qos, isRetained: retain, properties)
    }

    @discardableResult
    nonisolated(nonsending) func enqueue<Value>(
        _ value: Value, as request: PublishRequest
    ) async throws -> EnqueuedMessage {
        try await parts.publishing.enqueue(value, as: request)
    }

    @discardableResult
    nonisolated(nonsending) func enqueue<Value>(
        _ value: Value, to topic: String, qos: QoS, retain: Bool, properties: MessageProperties
    ) async throws -> EnqueuedMessage {
        try await parts.publishing.enqueue(value, to: topic, qos, isRetained: retain, properties)
    }

    func publish(
        bytes: [UInt8], to topic: String, qos: QoS, retain: Bool, properties: MessageProperties,
        completion: (@Sendable (Result<PublishReceipt, CourierError>) -> Void)?
    ) throws {
        try bytes.withBytes {
            try parts.publishing.publish(
                $0, array: bytes, parts.publishing.message(to: topic, qos, isRetained: retain, properties),
                told: completion)
        }
    }

    func publish(
        span: RawSpan, to topic: String, qos: QoS, retain: Bool, properties: MessageProperties,
        completion: (@Sendable (Result<PublishReceipt, CourierError>) -> Void)?
    ) throws {
        try parts.publishing.publish(
            span, parts.publishing.message(to: topic, qos, isRetained: retain, properties), told: completion)
    }

    func readyToPublish() async throws { try await parts.publishing.waitForRoom() }

    // MARK: Receiving messages

    func messagePublisher<D: Sendable>(topic: String) -> AnyPublisher<D, Never> {
        parts.readers.publisher(of: topic, D.self)
    }

    func messagePublisher<D: Sendable, E>(
        topic: String, errorDecodeHandler: @escaping @Sendable (E) -> any Error
    ) -> AnyPublisher<Result<D, NSError>, Never> {
        parts.readers.publisher(of: topic, errorDecodeHandler: errorDecodeHandler)
    }

    func messagePublisher() -> AnyPublisher<Message, Never> { parts.readers.publisher() }

    var deadLetterPublisher: AnyPublisher<DeadLetter, Never> { parts.readers.deadLetterPublisher }

    func messages<Value: Sendable>(_ type: Value.Type, as request: SubscriptionRequest) -> MessageSequence<Value> {
        // The sequence keeps the client alive. Each `for await` loop over the sequence also keeps the client alive.
        MessageSequence { [self] in
            parts.readers.source(type, request) { [coordinator = parts.coordinator] reader in
                coordinator.opened(reader, request)
            } connected: { [self] in
                try await connected(timeout: nil)
            } closed: { [self] reader, left in
                // The task on the event loop references only the coordinator, so the task does not keep the client
                // alive.
                parts.loop.execute { [coordinator = parts.coordinator] in coordinator.closed(reader, left) }
            }
        }
    }
}
