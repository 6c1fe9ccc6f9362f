public import CourierCore
import Foundation
import Synchronization

/// A client without a broker, for tests of an app's own code. It records the messages that the app publishes, and
/// delivers the messages that the test sends.
///
/// ```swift
/// let client = FakeClient()
/// let model = ChatModel(client)  // A view model of your app, which takes an `any CourierClient`.
/// client.connect()
///
/// await model.send("hello")
/// #expect(try client.published(Note.self, to: "chat/7/notes") == [Note(title: "hello")])
///
/// try client.send(Note(title: "hi"), to: "chat/7/notes")  // Every loop and sink of this topic gets it.
/// ```
///
/// `connect()` connects at once, every publish is acknowledged at once, and every subscription is granted. Completions
/// are called before the method returns.
///
/// In this example, `ChatModel` and `Note` are types of the app. A `FakeClient` reports no events, does not support
/// `request()` and `respond()`, and stores no message for readers that start later. A test that needs these features
/// uses a ``LoopbackBroker``.
public final class FakeClient: CourierClient {
    /// A running loop over `messages`: its filter, and a closure that ends it.
    typealias Loop = (filter: TopicFilter, end: @Sendable () -> Void)

    struct State {
        var hasSession = false
        var wantsConnection = false
        var published: [Message] = []
        var failure: CourierError?
        /// The filters that were passed to `subscribe`, and the filters of loops that `shutdown` has ended without
        /// removing their filters. The filters of running loops are in `loops`.
        var wanted: Set<String> = []
        var loops: [ObjectIdentifier: Loop] = [:]
    }

    let coding: FakeCoding
    let state = Mutex(State())
    /// Sends a new number after each change of `state` or `connection`, so that `wait(until:)` checks its condition
    /// again.
    private let changes = CurrentValueSubject<Int, Never>(0)
    let connection = CurrentValueSubject<ConnectionState, Never>(.disconnected)
    /// Sends the messages of the test. The buffer has no limit, so that no message is lost if a test sends many of them
    /// from inside a sink.
    let incoming = PassthroughSubject<Message, Never>(buffer: BufferPolicy(limit: .max, byteLimit: .max))

    /// Makes a client that is not connected.
    ///
    /// - Parameter messageAdapters: The adapters that encode and decode values. `Data` is not converted. Other values
    ///   use the first adapter that can convert them, or JSON if none can.
    public init(messageAdapters: [any MessageAdapter] = []) { coding = FakeCoding(adapters: messageAdapters) }

    // MARK: State for the test

    /// All messages that the app published, oldest first.
    public var published: [Message] { state.withLock { $0.published } }

    /// Returns the values that the app published to a topic or filter, oldest first.
    ///
    /// - Parameters:
    ///   - type: The type of the values.
    ///   - filter: A topic name, or a filter with `+` and `#`.
    /// - Returns: The values.
    /// - Throws: `CourierError.Code.invalidTopicFilter`, or
    ///   `CourierError.Code.decodingFailed` if a matching message cannot be decoded as `type`.
    public func published<Value: Sendable>(_ type: Value.Type, to filter: String) throws -> [Value] {
        let filter = try TopicFilter(filter)
        return try published.filter { filter.matches($0) }.map { message in
            guard let value = coding.decode(type, from: message) else {
                throw CourierError(
                    .decodingFailed,
                    "The message that was published to \(message.topic.quoted()) cannot be decoded as \(type).")
            }
            return value
        }
    }

    /// Waits until `count` messages were published. The wait has no timeout, so give the test suite a time limit.
    ///
    /// - Parameter count: The number of messages since the client was made.
    /// - Returns: All messages that were published; fewer than `count` only if the task was cancelled.
    @discardableResult
    public func waitForPublished(count: Int) async -> [Message] {
        await wait { $0.published.count >= count }
        return published
    }

    /// The filters that are subscribed now, by `subscribe` and by loops, sorted.
    public var subscriptions: [String] {
        state.withLock { state in state.wanted.union(state.loops.values.map(\.filter.string)).sorted() }
    }

    /// Waits until a loop over `messages` reads a topic, so that the loop gets the values of ``send(_:to:qos:)``. Also
    /// returns when the task is cancelled.
    ///
    /// The wait has no timeout, so give the test suite a time limit. A sink needs no waiting: it gets every message
    /// that is sent after the call of `sink`.
    ///
    /// - Parameter topic: A topic name.
    /// - Throws: `CourierError.Code.invalidTopicName`.
    public func waitForReader(of topic: String) async throws {
        let topic = try TopicName(topic)
        await wait { $0.loops.values.contains { $0.filter.matches(topic) } }
    }

    /// Counts of the published messages. All other numbers are 0.
    public var metrics: ClientMetrics {
        let published = published
        var metrics = ClientMetrics()
        metrics.acceptedCount = published.count
        metrics.acknowledgedCount = published.count { $0.qos != .zero }
        return metrics
    }

    // MARK: Actions of the test

    /// Delivers a message to all loops and sinks that read its topic.
    ///
    /// - Parameter message: The message.
    public func send(_ message: Message) { incoming.send(message) }

    /// Delivers a value to all loops and sinks that read a topic.
    ///
    /// - Parameters:
    ///   - value: The value.
    ///   - topic: The topic name.
    ///   - qos: The quality of service; `.one` by default.
    /// - Throws: `CourierError.Code.encodingFailed`.
    public func send<Value>(_ value: Value, to topic: String, qos: QoS = .one) throws {
        send(Message(data: try coding.encode(value, to: topic), topic: topic, qos: qos))
    }

    /// Changes the connection state, for example to simulate a lost connection.
    ///
    /// - Parameter state: The state.
    public func show(_ state: ConnectionState) {
        connection.send(state)
        changed()
    }

    /// Makes all later publishes fail.
    ///
    /// - Parameter error: The error that they throw; `nil` makes publishes succeed again.
    public func failPublishes(with error: CourierError?) { state.withLock { $0.failure = error } }

    // MARK: Waiting for a state

    func changed() { changes.send(changes.value + 1) }

    /// Returns when `isReached` is true for the state, or when the task is cancelled.
    func wait(until isReached: @Sendable (borrowing State) -> Bool) async {
        for await _ in changes.eraseToAnyPublisher().values where state.withLock({ isReached($0) }) { return }
    }
}

extension TopicFilter {
    func matches(_ message: Message) -> Bool {
        (try? TopicName(message.topic)).map { matches($0) } ?? false
    }
}
