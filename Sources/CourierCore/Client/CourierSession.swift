public import Foundation

/// What an app does with a connection: open it, subscribe, publish, read.
///
/// The first half is the published API, the second half the same for `async` code. What has a default implementation
/// is spelled in terms of the rest, so that a mock implements little.
public protocol CourierSession: CourierEventManager {
    /// What the connection is doing now.
    var connectionState: ConnectionState { get }

    /// The connection's state: the present one first, then every change, until the client is gone.
    ///
    /// Its sinks run on the client's delivery queue.
    var connectionStatePublisher: AnyPublisher<ConnectionState, Never> { get }

    /// Wants a connection from now on, reconnecting as needed. Calling it again changes nothing and is reported as an
    /// event.
    func connect()

    /// The same as ``connect()``, with a word on who asks.
    ///
    /// - Parameter source: Who asks; appears in logs.
    func connect(source: String)

    /// Wants messages of these topic filters. Kept across reconnects; sent at once or with the next connection.
    ///
    /// A filter that is not legal, or that the broker refuses, is reported by
    /// ``CourierEventType/subscribeFailure(topics:timeTaken:error:)``.
    ///
    /// - Parameter topics: Topic filters, each with the highest quality of service for its messages.
    func subscribe(_ topics: (topic: String, qos: QoS)...)

    /// The same as the form with a list of arguments, for an array.
    ///
    /// - Parameter topics: Topic filters, each with the highest quality of service for its messages.
    func subscribe(_ topics: [(topic: String, qos: QoS)])

    /// Wants no more messages of these topic filters; survives a lost connection until the broker has confirmed it.
    ///
    /// - Parameter topics: Topic filters as they were subscribed.
    func unsubscribe(_ topics: String...)

    /// The same as the form with a list of arguments, for an array.
    ///
    /// - Parameter topics: Topic filters as they were subscribed.
    func unsubscribe(_ topics: [String])

    /// Encodes a value here and hands it over for sending; returns before it is sent.
    ///
    /// How it ends is reported by ``CourierEventType/messageSendSuccess(topic:qos:sizeBytes:data:)`` or
    /// ``CourierEventType/messageSendFailure(topic:qos:error:sizeBytes:)``.
    ///
    /// - Parameters:
    ///   - data: The value.
    ///   - topic: The topic name.
    ///   - qos: The quality of service.
    /// - Throws: When the topic is not legal, no adapter encodes the value, or it is not accepted for sending.
    func publishMessage<E>(_ data: E, topic: String, qos: QoS) throws

    /// The decoded messages of a topic or topic filter, for as long as the client lives.
    ///
    /// It does not subscribe. What can not be decoded is left out and reported by
    /// ``CourierEventType/messageReceiveFailure(topic:error:sizeBytes:)``. Sinks run on the client's delivery queue.
    ///
    /// - Parameter topic: A topic name, or a filter with `+` and `#`.
    /// - Returns: The publisher.
    func messagePublisher<D: Sendable>(topic: String) -> AnyPublisher<D, Never>

    /// The decoded messages of a topic or topic filter, where a message may also be an error that the server
    /// describes.
    ///
    /// - Parameters:
    ///   - topic: A topic name, or a filter with `+` and `#`.
    ///   - errorDecodeHandler: Turns a message that decodes as `E` instead of `D` into an error; runs on the
    ///     reader's side, on any thread.
    /// - Returns: A publisher of values and errors.
    @preconcurrency
    func messagePublisher<D: Sendable, E>(
        topic: String, errorDecodeHandler: @escaping @Sendable (E) -> any Error
    ) -> AnyPublisher<Result<D, NSError>, Never>

    /// Every message as it came, of any topic. Sinks run on the client's delivery queue.
    ///
    /// - Returns: The publisher.
    func messagePublisher() -> AnyPublisher<Message, Never>

    // MARK: For async code

    /// Waits until the connection is established; returns at once when it is.
    ///
    /// - Throws: Why it can not be established without the app doing something first, or `CancellationError`.
    func connected() async throws

    /// Encodes a value on the caller's side, sends it and waits for the acknowledgement.
    ///
    /// Returns for QoS 0 when the message is handed to the connection. Cancelling the task ends the waiting, not the
    /// delivery: a message that was accepted is still sent.
    ///
    /// - Parameters:
    ///   - value: The value.
    ///   - request: Where and how.
    /// - Returns: The broker's word on it.
    /// - Throws: When it can not be encoded, accepted or delivered, or `CancellationError`.
    @discardableResult
    nonisolated(nonsending) func publish<Value>(
        _ value: Value, as request: PublishRequest
    ) async throws -> PublishReceipt

    /// The decoded messages of a topic filter: subscribes when a loop starts, unsubscribes when it is left.
    ///
    /// - Parameters:
    ///   - type: The type to decode.
    ///   - request: From where and how.
    /// - Returns: A sequence in which each loop is a reader of its own.
    func messages<Value: Sendable>(_ type: Value.Type, as request: SubscriptionRequest) -> MessageSequence<Value>
}
