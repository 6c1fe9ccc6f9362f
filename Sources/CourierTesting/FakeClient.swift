public import CourierCore
public import Foundation
import Synchronization

/// A client without a broker, for tests of an app's own code: it keeps what is published, and delivers what the test sends.
///
/// ```swift
/// let client = FakeClient()
/// let model = ChatModel(client)  // The app's own; it takes an `any CourierClient`.
/// client.connect()
///
/// await model.send("hello")
/// #expect(try client.published(Note.self, to: "chat/7/notes") == [Note(title: "hello")])
///
/// try client.send(Note(title: "hi"), to: "chat/7/notes")  // Every loop and sink of this topic gets it.
/// ```
///
/// `connect()` connects at once, each publish is acknowledged at once, and each subscription granted. It reports no events,
/// asks and answers no questions, and keeps nothing for readers that come later. Where a test needs these, use a
/// ``LoopbackBroker``.
public final class FakeClient: CourierClient {
    /// A loop that reads: its filter, and what ends it.
    fileprivate typealias Loop = (filter: TopicFilter, end: @Sendable () -> Void)

    private struct State {
        var hasSession = false
        var wantsConnection = false
        var published: [Message] = []
        var failure: CourierError?
        /// What `subscribe` asked for.
        var wanted: Set<String> = []
        /// The loops: their filters, and what ends them.
        var loops: [ObjectIdentifier: Loop] = [:]
    }

    private let coding: FakeCoding
    private let state = Mutex(State())
    /// Sends a number after each change of `state`.
    private let changes = CurrentValueSubject<Int, Never>(0)
    private let connection = CurrentValueSubject<ConnectionState, Never>(.disconnected)
    private let incoming = PassthroughSubject<Message, Never>()

    /// Makes a client that is not connected.
    ///
    /// - Parameter messageAdapters: How values become bytes and come back; the first that can is taken. What none of them can
    ///   is JSON, and `Data` is taken as it is.
    public init(messageAdapters: [any MessageAdapter] = []) { coding = FakeCoding(adapters: messageAdapters) }

    // MARK: What the test sees

    /// All messages that were published, in order.
    public var published: [Message] { state.withLock { $0.published } }

    /// The values that were published to a topic, in order.
    ///
    /// - Parameters:
    ///   - type: Their type.
    ///   - filter: A topic name, or a filter with `+` and `#`.
    /// - Returns: The values.
    /// - Throws: `CourierError.Code.invalidTopicFilter`, or
    ///   `CourierError.Code.decodingFailed` if a message there has another type.
    public func published<Value: Sendable>(_ type: Value.Type, to filter: String) throws -> [Value] {
        let filter = try TopicFilter(filter)
        return try published.filter { filter.matches($0) }.map { message in
            guard let value = coding.decode(type, from: message) else {
                throw CourierError(
                    .decodingFailed,
                    "The message that was published to \(message.topic.quoted()) can not be decoded as \(type).")
            }
            return value
        }
    }

    /// Waits until so many messages were published.
    ///
    /// It waits without an end; give the suite a time limit.
    ///
    /// - Parameter count: How many, since the client was made.
    /// - Returns: All of them; fewer only if the task was cancelled.
    @discardableResult
    public func waitForPublished(count: Int) async -> [Message] {
        await wait { $0.published.count >= count }
        return published
    }

    /// The filters that are subscribed now, by `subscribe` and by loops, in the order of the alphabet.
    public var subscriptions: [String] {
        state.withLock { state in state.wanted.union(state.loops.values.map(\.filter.string)).sorted() }
    }

    /// Waits until a loop over messages reads a topic, so that ``send(_:to:qos:)`` reaches it.
    ///
    /// It waits without an end; give the suite a time limit. Sinks are not seen by it: they get messages from `sink` on.
    ///
    /// - Parameter topic: A topic name.
    /// - Throws: `CourierError.Code.invalidTopicName`.
    public func waitForReader(of topic: String) async throws {
        let topic = try TopicName(topic)
        await wait { $0.loops.values.contains { $0.filter.matches(topic) } }
    }

    // MARK: What the test does

    /// Delivers a message to all loops and sinks of its topic.
    ///
    /// - Parameter message: The message.
    public func send(_ message: Message) { incoming.send(message) }

    /// Delivers a value to all loops and sinks of a topic.
    ///
    /// - Parameters:
    ///   - value: The value.
    ///   - topic: The topic name.
    ///   - qos: The quality of service; `.one` by default.
    /// - Throws: `CourierError.Code.encodingFailed`.
    public func send<Value>(_ value: Value, to topic: String, qos: QoS = .one) throws {
        send(Message(data: try coding.encode(value, to: topic), topic: topic, qos: qos))
    }

    /// Shows another state, such as a connection that is lost.
    ///
    /// - Parameter state: The state.
    public func show(_ state: ConnectionState) {
        connection.send(state)
        changed()
    }

    /// Lets all publishes from now on fail.
    ///
    /// - Parameter error: What they throw; `nil` to let them succeed again.
    public func failPublishes(with error: CourierError?) { state.withLock { $0.failure = error } }

    // MARK: The connection

    /// Whether `connect()` was called, and `destroy()` was not called since.
    public var hasExistingSession: Bool { state.withLock { $0.hasSession } }
    /// The state that ``show(_:)`` or the last call led to.
    public var connectionState: ConnectionState { connection.value }
    /// The present state, then every change, at once on the thread of the change.
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

    /// Disconnects at once; what was published and subscribed stays.
    public func disconnect() {
        state.withLock { $0.wantsConnection = false }
        show(.disconnected)
    }

    /// Ends all loops, and disconnects.
    ///
    /// - Parameter subscriptions: What becomes of their filters in ``subscriptions``; `nil` keeps them.
    public nonisolated(nonsending) func shutdown(subscriptions: LoopSubscriptions?) async {
        let loops = state.withLock { state in
            if subscriptions != .remove { state.wanted.formUnion(state.loops.values.map(\.filter.string)) }
            defer { state.loops = [:] }
            return state.loops.values.map(\.end)
        }
        for end in loops { end() }
        disconnect()
    }

    /// Disconnects at once, and forgets what `subscribe` asked for.
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
    /// - Parameter timeout: How long to wait; `nil` waits without an end.
    /// - Throws: `CourierError.Code.sessionMissing` if nobody wants a connection,
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
            throw CourierError(.sessionMissing, "Nobody wants a connection; call connect() first.")
        }
    }

    // MARK: Subscriptions

    /// Grants the filter at once.
    ///
    /// - Parameter request: The filter and the quality of service.
    /// - Returns: The quality of service of the request.
    /// - Throws: What is wrong with the filter.
    public func subscribe(_ request: SubscriptionRequest) async throws -> QoS {
        let filter = try request.topic.filter(for: nil).string
        state.withLock { _ = $0.wanted.insert(filter) }
        changed()
        return request.qos
    }

    /// Forgets the filter at once.
    ///
    /// - Parameter request: The filter as it was subscribed.
    /// - Throws: What is wrong with the filter.
    public func unsubscribe(_ request: UnsubscriptionRequest) async throws {
        let filter = try request.topic.filter(for: nil).string
        state.withLock { _ = $0.wanted.remove(filter) }
        changed()
    }

    // MARK: Publishing

    /// Keeps the value, and acknowledges it at once.
    ///
    /// - Parameters:
    ///   - value: The value.
    ///   - request: Where and how.
    /// - Returns: A receipt with `ReasonCode.success`.
    /// - Throws: The error of ``failPublishes(with:)``, `CourierError.Code.sessionMissing` before `connect()`,
    ///   `CourierError.Code.encodingFailed`, or what is wrong with the topic.
    public nonisolated(nonsending) func publish<Value>(
        _ value: Value, as request: PublishRequest
    ) async throws -> PublishReceipt {
        try keep(value, request)
        return PublishReceipt()
    }

    /// Keeps the value.
    ///
    /// - Parameters:
    ///   - data: The value.
    ///   - topic: The topic name.
    ///   - qos: The quality of service.
    /// - Throws: What ``publish(_:as:)`` throws.
    public func publishMessage<E>(_ data: E, topic: String, qos: QoS) throws {
        try keep(data, PublishRequest(topic: TopicTemplate(exactly: topic), qos: qos))
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
                    .sessionMissing, "There is no session to publish to \(topic.quoted()) in; call connect() first.")
            }
            state.published.append(message)
        }
        changed()
    }

    // MARK: Reading

    /// The values that the test sends to a filter, for each loop from its start on.
    ///
    /// - Parameters:
    ///   - type: The type to decode.
    ///   - request: The filter.
    /// - Returns: A sequence in which each loop is a reader of its own.
    public func messages<Value: Sendable>(
        _ type: Value.Type, as request: SubscriptionRequest
    ) -> MessageSequence<Value> {
        MessageSequence { [self] in
            FakeReader(Result { try request.topic.filter(for: nil) }) { filter in
                values(of: filter) { [coding] in coding.decode(type, from: $0) }
            } changed: { [self] reader, loop in
                state.withLock { $0.loops[reader] = loop }
                changed()
            }
        }
    }

    /// The values that the test sends to a topic or filter; nothing if the filter is not legal.
    ///
    /// - Parameter topic: A topic name, or a filter with `+` and `#`.
    /// - Returns: The publisher.
    public func messagePublisher<D: Sendable>(topic: String) -> AnyPublisher<D, Never> {
        values(of: try? TopicFilter(topic)) { [coding] in coding.decode(D.self, from: $0) }
    }

    /// The values that the test sends to a topic or filter, and errors for messages that decode as `E`.
    ///
    /// - Parameters:
    ///   - topic: A topic name, or a filter with `+` and `#`.
    ///   - errorDecodeHandler: Turns an `E` into an error.
    /// - Returns: A publisher of values and errors.
    public func messagePublisher<D: Sendable, E>(
        topic: String, errorDecodeHandler: @escaping @Sendable (E) -> any Error
    ) -> AnyPublisher<Result<D, NSError>, Never> {
        values(of: try? TopicFilter(topic)) { [coding] message in
            if let value = coding.decode(D.self, from: message) { return .success(value) }
            return coding.decode(E.self, from: message).map { .failure(NSError.carrying(errorDecodeHandler($0))) }
        }
    }

    /// Every message that the test sends.
    ///
    /// - Returns: The publisher.
    public func messagePublisher() -> AnyPublisher<Message, Never> { incoming.eraseToAnyPublisher() }

    /// What the messages of a filter decode as; nothing for a filter that is not legal.
    private func values<Value: Sendable>(
        of filter: TopicFilter?, decode: @escaping @Sendable (Message) -> Value?
    ) -> AnyPublisher<Value, Never> {
        messagePublisher().compactMap { message in
            filter?.matches(message) == true ? decode(message) : nil
        }
    }

    // MARK: Waiting

    private func changed() { changes.send(changes.value + 1) }

    /// Waits for a state, or until the task is cancelled.
    private func wait(until isReached: @Sendable (borrowing State) -> Bool) async {
        for await _ in changes.eraseToAnyPublisher().values where state.withLock({ isReached($0) }) { return }
    }
}

/// What one loop reads: all values from its start until it is left.
private final class FakeReader<Value: Sendable>: MessageSource {
    /// Told that the loop has begun, or with `nil` that it was left.
    typealias Changed = @Sendable (ObjectIdentifier, FakeClient.Loop?) -> Void

    private let values: AsyncThrowingStream<Value, any Error>
    private let sink: AnyCancellable?
    private let changed: Changed

    init(
        _ filter: Result<TopicFilter, any Error>, values: (TopicFilter) -> AnyPublisher<Value, Never>,
        changed: @escaping Changed
    ) {
        let (stream, continuation) = AsyncThrowingStream<Value, any Error>.makeStream()
        self.values = stream
        self.changed = changed
        switch filter {
        case .success(let filter):
            sink = values(filter).sink { continuation.yield($0) }
            changed(ObjectIdentifier(self), (filter, { continuation.finish() }))
        case .failure(let error):
            sink = nil
            continuation.finish(throwing: error)
        }
    }

    nonisolated(nonsending) func nextBatch() async throws -> [Value] {
        var iterator = values.makeAsyncIterator()
        return try await iterator.next().map { [$0] } ?? []
    }

    func cancel(unread count: Int) {
        sink?.cancel()
        changed(ObjectIdentifier(self), nil)
    }
}

extension TopicFilter {
    fileprivate func matches(_ message: Message) -> Bool {
        (try? TopicName(message.topic)).map { matches($0) } ?? false
    }
}
