public import CourierCore
import Foundation
import Synchronization

/// The methods that connect, subscribe and publish.
extension FakeClient {
    // MARK: The connection

    /// Whether `connect()` was called, and `destroy()` was not called after it.
    public var hasExistingSession: Bool { state.withLock { $0.hasSession } }
    /// The connection state that ``show(_:)`` or a method such as `connect()` set last.
    public var connectionState: ConnectionState { connection.value }
    /// Sends the current connection state, then every change. If a call changes the state, the change is sent on the
    /// same thread, before the call returns.
    public var connectionStatePublisher: AnyPublisher<ConnectionState, Never> { connection.eraseToAnyPublisher() }

    /// Connects at once.
    ///
    /// - Parameter source: Has no effect.
    public func connect(source: String) {
        state.withLock { state in
            state.hasSession = true
            state.wantsConnection = true
        }
        show(.connected)
    }

    /// Connects at once.
    ///
    /// - Parameter completion: Called with success before the method returns.
    public func connect(completion: @escaping @Sendable (Result<Void, CourierError>) -> Void) {
        connect()
        completion(.success(()))
    }

    /// Disconnects at once. `published` and `subscriptions` do not change.
    public func disconnect() {
        state.withLock { $0.wantsConnection = false }
        show(.disconnected)
    }

    /// Ends all loops over `messages`, and disconnects.
    ///
    /// - Parameter subscriptions: Whether the filters of the ended loops stay in ``subscriptions``; `nil` keeps these
    ///   filters.
    public nonisolated(nonsending) func shutdown(subscriptions: LoopSubscriptions?) async {
        let loops = state.withLock { state in
            if subscriptions != .remove { state.wanted.formUnion(state.loops.values.map(\.filter.string)) }
            defer { state.loops = [:] }
            return state.loops.values.map(\.end)
        }
        for end in loops { end() }
        disconnect()
    }

    /// Disconnects at once, and removes the filters that were passed to `subscribe`. Loops continue, and ``published``
    /// does not change.
    public func destroy() {
        state.withLock { state in
            state.hasSession = false
            state.wantsConnection = false
            state.wanted = []
        }
        show(.disconnected)
    }

    /// Waits for the state `ConnectionState.connected`.
    ///
    /// - Parameter timeout: How long to wait; `nil` for no limit.
    /// - Throws: `CourierError.Code.sessionMissing` before `connect()` and after `disconnect()` or `destroy()`,
    ///   `CourierError.Code.timedOut` after the timeout, or `CancellationError`.
    public func connected(timeout: Duration?) async throws {
        let isConnected = await withTaskGroup(of: Bool.self) { group in
            group.addTask { [self] in
                await wait { !$0.wantsConnection || self.connectionState == .connected }
                return true
            }
            if let timeout {
                group.addTask {
                    try? await Task.sleep(for: timeout)
                    return false
                }
            }
            defer { group.cancelAll() }
            return await group.next() ?? false
        }
        try Task.checkCancellation()
        guard isConnected else {
            throw CourierError(.timedOut, "There was no connection within \(timeout ?? .zero).")
        }
        guard state.withLock({ $0.wantsConnection }) else {
            throw CourierError(.sessionMissing, "The client is not connecting; call connect() first.")
        }
    }

    // MARK: Subscriptions

    /// Grants the filters at once. Invalid filters are ignored.
    ///
    /// - Parameter topics: Topic filters, each with the quality of service that is granted.
    public func subscribe(_ topics: [(topic: String, qos: QoS)]) {
        for (topic, _) in topics { try? add(TopicFilter(topic)) }
    }

    /// Grants the filter at once.
    ///
    /// - Parameter request: The filter and the quality of service.
    /// - Returns: The quality of service of the request.
    /// - Throws: The error of an invalid filter.
    public func subscribe(_ request: SubscriptionRequest) async throws -> QoS {
        add(try request.topic.filter(for: nil))
        return request.qos
    }

    /// Grants the filter at once.
    ///
    /// - Parameters:
    ///   - filter: The topic filter.
    ///   - qos: The quality of service that is granted.
    ///   - completion: Called before the method returns, with `qos` or with the error of an invalid filter.
    public func subscribe(
        _ filter: String, qos: QoS, completion: @escaping @Sendable (Result<QoS, CourierError>) -> Void
    ) {
        completion(
            Result { () throws(CourierError) in
                add(try TopicFilter(filter))
                return qos
            })
    }

    /// Removes the subscriptions to the filters at once.
    ///
    /// - Parameter topics: The filters as they were subscribed.
    public func unsubscribe(_ topics: [String]) {
        for topic in topics { try? remove(TopicFilter(topic)) }
    }

    /// Removes the subscription to the filter at once.
    ///
    /// - Parameter request: The filter as it was subscribed.
    /// - Throws: The error of an invalid filter.
    public func unsubscribe(_ request: UnsubscriptionRequest) async throws {
        remove(try request.topic.filter(for: nil))
    }

    /// Removes the subscription to the filter at once.
    ///
    /// - Parameters:
    ///   - filter: The filter as it was subscribed.
    ///   - completion: Called before the method returns, with success or with the error of an invalid filter.
    public func unsubscribe(_ filter: String, completion: @escaping @Sendable (Result<Void, CourierError>) -> Void) {
        completion(Result { () throws(CourierError) in remove(try TopicFilter(filter)) })
    }

    private func add(_ filter: TopicFilter) {
        state.withLock { _ = $0.wanted.insert(filter.string) }
        changed()
    }

    private func remove(_ filter: TopicFilter) {
        state.withLock { _ = $0.wanted.remove(filter.string) }
        changed()
    }

    // MARK: Publishing

    /// Encodes the value, adds the message to ``published``, and acknowledges it at once.
    ///
    /// - Parameters:
    ///   - value: The value.
    ///   - request: The topic and the options of the message.
    /// - Returns: A receipt with `ReasonCode.success`.
    /// - Throws: The error of ``failPublishes(with:)``, `CourierError.Code.sessionMissing` before `connect()` and after
    ///   `destroy()`, `CourierError.Code.encodingFailed`, or the error of an invalid topic.
    public nonisolated(nonsending) func publish<Value>(
        _ value: Value, as request: PublishRequest
    ) async throws -> PublishReceipt {
        try keep(value, request)
        return PublishReceipt()
    }

    /// Encodes the value, and adds the message to ``published``.
    ///
    /// - Parameters:
    ///   - data: The value.
    ///   - topic: The topic name.
    ///   - qos: The quality of service.
    /// - Throws: The same errors as ``publish(_:as:)``.
    public func publishMessage<E>(_ data: E, topic: String, qos: QoS) throws {
        try keep(data, PublishRequest(topic: TopicTemplate(exactly: topic), qos: qos))
    }

    /// Adds a message with these bytes to ``published``, without an adapter.
    ///
    /// - Parameters:
    ///   - bytes: The payload.
    ///   - topic: The topic name.
    ///   - qos: The quality of service.
    ///   - retain: The retain flag.
    ///   - properties: The properties of MQTT 5.
    ///   - completion: Called with a receipt before the method returns.
    /// - Throws: The same errors as ``publish(_:as:)``. The completion is then not called.
    public func publish(
        bytes: [UInt8], to topic: String, qos: QoS, retain: Bool, properties: MessageProperties,
        completion: (@Sendable (Result<PublishReceipt, CourierError>) -> Void)?
    ) throws {
        try keep(
            Data(bytes),
            PublishRequest(
                topic: TopicTemplate(exactly: topic), qos: qos, isRetained: retain, properties: properties))
        completion?(.success(PublishReceipt()))
    }

    private func keep<Value>(_ value: Value, _ request: PublishRequest) throws {
        let topic = try request.topic.name(for: nil).string
        let message = Message(
            data: try coding.encode(value, to: topic), topic: topic, qos: request.qos, isRetained: request.isRetained,
            properties: request.properties)
        try state.withLock { state in
            if let failure = state.failure { throw failure }
            guard state.hasSession else {
                throw CourierError(
                    .sessionMissing, "There is no session for the message to \(topic.quoted()); call connect() first.")
            }
            state.published.append(message)
        }
        changed()
    }
}
