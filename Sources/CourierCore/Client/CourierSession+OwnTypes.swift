public import Foundation

/// Default implementations for your own session types. A method with a completion starts a task for each call of an
/// `async` method. So if the app makes two calls in a row, the second call may take effect first. If the order matters,
/// implement the method yourself, as `FakeClient` does.
extension CourierSession {
    /// Calls ``subscribe(_:qos:completion:)`` for each filter.
    ///
    /// - Parameter topics: Topic filters, each with the highest quality of service for its messages.
    public func subscribe(_ topics: [(topic: String, qos: QoS)]) {
        for (topic, qos) in topics { subscribe(topic, qos: qos) { _ in } }
    }

    /// Calls ``unsubscribe(_:completion:)`` for each filter.
    ///
    /// - Parameter topics: The subscribed topic filters.
    public func unsubscribe(_ topics: [String]) {
        for topic in topics { unsubscribe(topic) { _ in } }
    }

    /// Calls ``subscribe(_:)-(SubscriptionRequest)`` in a task, and returns at once.
    ///
    /// - Parameters:
    ///   - filter: The topic filter.
    ///   - qos: The highest quality of service.
    ///   - completion: Called once with the result, in that task.
    public func subscribe(
        _ filter: String, qos: QoS, completion: @escaping @Sendable (Result<QoS, CourierError>) -> Void
    ) {
        let request = SubscriptionRequest(topic: TopicTemplate(exactly: filter), qos: qos)
        Self.run(completion) { [self] in try await subscribe(request) }
    }

    /// Calls ``unsubscribe(_:)-(UnsubscriptionRequest)`` in a task, and returns at once.
    ///
    /// - Parameters:
    ///   - filter: The subscribed filter.
    ///   - completion: Called once with the result, in that task.
    public func unsubscribe(_ filter: String, completion: @escaping @Sendable (Result<Void, CourierError>) -> Void) {
        Self.run(completion) { [self] in try await unsubscribe(from: filter) }
    }

    /// Calls ``connect()``, then ``connected(timeout:)`` in a task.
    ///
    /// - Parameter completion: Called once with the result, in that task.
    public func connect(completion: @escaping @Sendable (Result<Void, CourierError>) -> Void) {
        connect()
        Self.run(completion) { [self] in try await connected() }
    }

    /// Calls ``publish(_:as:)`` with the bytes as `Data` in a task, and returns at once. The completion receives every
    /// error.
    ///
    /// - Parameters:
    ///   - bytes: The payload.
    ///   - topic: The topic name.
    ///   - qos: The quality of service.
    ///   - retain: Whether the broker keeps the message for later subscribers.
    ///   - properties: The properties of MQTT 5.
    ///   - completion: Called once with the result, in that task; `nil` if the app needs no result.
    /// - Throws: Nothing.
    public func publish(
        bytes: [UInt8], to topic: String, qos: QoS, retain: Bool, properties: MessageProperties,
        completion: (@Sendable (Result<PublishReceipt, CourierError>) -> Void)?
    ) throws {
        let request = PublishRequest(
            topic: TopicTemplate(exactly: topic), qos: qos, isRetained: retain, properties: properties)
        Self.run(completion ?? { _ in }) { [self] in try await publish(Data(bytes), as: request) }
    }

    /// Calls ``publish(_:as:)``, and returns when the broker has acknowledged the message. If your session has a
    /// message store, implement this method to return earlier, when the message is stored.
    ///
    /// - Parameters:
    ///   - value: The value.
    ///   - request: The topic and the options of the message.
    /// - Returns: A message that cannot be withdrawn, because it was already sent.
    /// - Throws: The errors of ``publish(_:as:)``.
    @discardableResult
    public nonisolated(nonsending) func enqueue<Value>(
        _ value: Value, as request: PublishRequest
    ) async throws -> EnqueuedMessage {
        try await publish(value, as: request)
        return EnqueuedMessage()
    }

    /// Returns at once, because a session that does not implement this method has no limit on waiting messages.
    ///
    /// - Throws: Nothing.
    public func readyToPublish() async throws {}

    /// No messages, because a session that does not implement this property does not report waiting messages.
    public var waiting: WaitingMessages { get async throws { WaitingMessages() } }

    /// Metrics in which all numbers are 0, because a session that does not implement this property counts nothing.
    public var metrics: ClientMetrics { ClientMetrics() }

    /// A status that contains only the connection state, because a session that does not implement this property
    /// reports no attempts and no failures.
    public var connectionStatus: ConnectionStatus { ConnectionStatus(connectionState) }

    /// Statuses that contain only the connection state, because a session that does not implement this property reports
    /// no attempts and no failures.
    public var connectionStatusPublisher: AnyPublisher<ConnectionStatus, Never> {
        connectionStatePublisher.map { ConnectionStatus($0) }
    }

    /// A publisher without values, because a session that does not implement this property reports no event.
    public var eventPublisher: AnyPublisher<CourierEvent, Never> { .withoutValues }

    /// Does nothing, because a session that does not implement this method reports no event.
    ///
    /// - Parameter handler: The handler.
    public func addEventHandler(_ handler: any ICourierEventHandler) {}

    /// Does nothing, because a session that does not implement this method has no handlers.
    ///
    /// - Parameter handler: The handler.
    public func removeEventHandler(_ handler: any ICourierEventHandler) {}

    /// A publisher without values, because a session that does not implement this property reports no dead letters,
    /// which are messages that a reader could not use.
    public var deadLetterPublisher: AnyPublisher<DeadLetter, Never> { .withoutValues }

    /// The values of ``messagePublisher(topic:)-(String)``. The publisher sends no error, because a session that does
    /// not implement this method does not decode messages as errors.
    ///
    /// - Parameters:
    ///   - topic: A topic name, or a filter with `+` and `#`.
    ///   - errorDecodeHandler: Not used.
    /// - Returns: A publisher of values.
    @preconcurrency
    public func messagePublisher<D: Sendable, E>(
        topic: String, errorDecodeHandler: @escaping @Sendable (E) -> any Error
    ) -> AnyPublisher<Result<D, NSError>, Never> {
        messagePublisher(topic: topic).map { (value: D) in .success(value) }
    }

    /// Throws, because a session that does not implement this method cannot send requests.
    ///
    /// - Parameters:
    ///   - question: The request.
    ///   - topic: The topic of the responder.
    ///   - timeout: The maximum time of the call.
    ///   - type: The type of the response.
    /// - Returns: Nothing, because the method always throws.
    /// - Throws: ``CourierError/Code-swift.struct/invalidConfiguration``.
    public func request<Question, Answer: Sendable>(
        _ question: Question, at topic: TopicTemplate, timeout: Duration, as type: Answer.Type
    ) async throws -> Answer {
        throw CourierError(
            .invalidConfiguration,
            "\(Self.self) cannot send requests to \(topic.description.quoted()): it has no request().")
    }

    /// Throws, because a session that does not implement this method cannot respond to requests.
    ///
    /// - Parameters:
    ///   - topic: The topic of the requests.
    ///   - qos: The quality of service of requests and responses.
    ///   - handler: Not used.
    /// - Throws: ``CourierError/Code-swift.struct/invalidConfiguration``.
    public func respond<Question: Sendable, Answer>(
        at topic: TopicTemplate, qos: QoS, handler: @escaping @Sendable (Question) async throws -> Answer
    ) async throws {
        throw CourierError(
            .invalidConfiguration,
            "\(Self.self) cannot answer on \(topic.description.quoted()): it does not implement respond().")
    }

    /// Runs an asynchronous call in a task, and calls the completion with its result.
    private static func run<Success: Sendable>(
        _ completion: @escaping @Sendable (Result<Success, CourierError>) -> Void,
        of call: @escaping @Sendable () async throws -> Success
    ) {
        Task {
            do {
                completion(.success(try await call()))
            } catch {
                completion(
                    .failure(error as? CourierError ?? CourierError(.connectionFailed, "\(error)", cause: error)))
            }
        }
    }
}

extension CourierClient {
    /// Ends all loops and the connection, as ``shutdown(subscriptions:)`` does. The subscriptions of loops remain if
    /// the broker keeps the session, and are removed otherwise.
    public nonisolated(nonsending) func shutdown() async { await shutdown(subscriptions: nil) }

    /// Disconnects, and leaves loops running, because a client that does not implement this method cannot end loops.
    ///
    /// - Parameter subscriptions: Has no effect.
    public nonisolated(nonsending) func shutdown(subscriptions: LoopSubscriptions?) async { await disconnectAndWait() }

    /// Calls ``disconnect()``, and then calls the completion with success.
    ///
    /// - Parameter completion: Called with success before this call returns.
    public func disconnect(completion: @escaping @Sendable (Result<Void, CourierError>) -> Void) {
        disconnect()
        completion(.success(()))
    }

    /// Returns `true` unless the connection state is ``ConnectionState/disconnected``. Implement this property if your
    /// session still exists after ``disconnect()``.
    public var hasExistingSession: Bool { connectionState != .disconnected }
}

extension AnyPublisher {
    /// A publisher that sends no values and never finishes.
    fileprivate static var withoutValues: AnyPublisher { AnyPublisher { _ in AnyCancellable {} } }
}
