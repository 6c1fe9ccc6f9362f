public import Foundation

/// What an app does with a connection: open it, subscribe, publish, read.
///
/// The first half is the published API, the second half the same for `async` code.
///
/// A type of your own must implement thirteen members of this protocol and of ``CourierClient``. The others have default
/// implementations, which say what they do without the rest. `FakeClient` of CourierTesting is such a type, for tests.
public protocol CourierSession: CourierEventManager {
    /// What the connection is doing now.
    var connectionState: ConnectionState { get }

    /// The connection's state: the present state first, then every change, as long as the client lives.
    ///
    /// Its sinks run on the client's delivery queue.
    var connectionStatePublisher: AnyPublisher<ConnectionState, Never> { get }

    /// What the connection is doing now, with the endpoint, the attempt and the last failure.
    var connectionStatus: ConnectionStatus { get }

    /// The connection's status: the present one first, then every change, as long as the client lives. A planned attempt is a
    /// change, with its number, its time and the reason.
    ///
    /// Its sinks run on the client's delivery queue.
    var connectionStatusPublisher: AnyPublisher<ConnectionStatus, Never> { get }

    /// Connects, and reconnects as needed until ``CourierClient/disconnect()``.
    ///
    /// While the client asks for credentials, connects or is connected, a further call changes nothing and is the event
    /// ``CourierEventType/connectDiscarded(reason:)``. While it waits for the next attempt, or has stopped after a failure,
    /// the call makes it ask for credentials anew and try again at once, at most every 5 s. In the background it tries
    /// when the app comes back.
    func connect()

    /// The same as ``connect()``, and names the caller.
    ///
    /// - Parameter source: The caller's name, for logs.
    func connect(source: String)

    /// Subscribes to these topic filters. Kept across reconnects; sent at once or with the next connection.
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

    /// Unsubscribes from these topic filters; survives a lost connection until the broker has confirmed it.
    ///
    /// This call removes subscriptions of `subscribe`, of the configuration, and of an earlier process in the same
    /// session.
    /// A filter that a loop over
    /// ``messages(_:as:)`` reads stays subscribed until the loop is left, and its messages continue. One of the
    /// configuration is wanted again after ``CourierClient/destroy()``, or by the next client.
    ///
    /// - Parameter topics: Topic filters as they were subscribed.
    func unsubscribe(_ topics: String...)

    /// The same as the form with a list of arguments, for an array.
    ///
    /// - Parameter topics: Topic filters as they were subscribed.
    func unsubscribe(_ topics: [String])

    /// Encodes a value on the caller's thread and publishes it; returns before it is sent.
    ///
    /// The end of the delivery is reported by ``CourierEventType/messageSendSuccess(topic:qos:sizeBytes:data:)`` or
    /// ``CourierEventType/messageSendFailure(topic:qos:error:sizeBytes:)``.
    ///
    /// - Parameters:
    ///   - data: The value.
    ///   - topic: The topic name.
    ///   - qos: The quality of service.
    /// - Throws: ``CourierError/Code-swift.struct/encodingFailed`` when no adapter encodes the value, or what
    ///   ``publish(bytes:to:qos:retain:properties:completion:)`` throws.
    func publishMessage<E>(_ data: E, topic: String, qos: QoS) throws

    /// The decoded messages of a topic or topic filter, for as long as the client lives.
    ///
    /// It does not subscribe. What cannot be decoded is left out and reported by
    /// ``CourierEventType/messageReceiveFailure(topic:error:sizeBytes:)``. Decoding and sinks run on the client's
    /// delivery queue.
    ///
    /// With a filter that is not legal its sinks get nothing, not even an end: the same event says so with
    /// ``CourierError/Code-swift.struct/invalidTopicFilter`` for each sink, and so does a warning in the log.
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
    ///     client's delivery queue, as decoding and sinks do. An error that is no `NSError` is found under
    ///     `NSUnderlyingErrorKey`.
    /// - Returns: A publisher of values and errors.
    @preconcurrency
    func messagePublisher<D: Sendable, E>(
        topic: String, errorDecodeHandler: @escaping @Sendable (E) -> any Error
    ) -> AnyPublisher<Result<D, NSError>, Never>

    /// Every message as it came, of any topic. Sinks run on the client's delivery queue.
    ///
    /// - Returns: The publisher.
    func messagePublisher() -> AnyPublisher<Message, Never>

    /// The messages that a reader could not use, because it could not decode them or because a request has no response topic; each
    /// once for every such reader, for as long as the client lives.
    ///
    /// Its sinks run on the client's delivery queue.
    var deadLetterPublisher: AnyPublisher<DeadLetter, Never> { get }

    // MARK: For async code

    /// Waits until the connection is established, or until `timeout` has passed. Returns at once if it is established.
    ///
    /// ```swift
    /// client.connect()
    /// try await client.connected(timeout: .seconds(10))
    /// ```
    ///
    /// Before the first connection after `connect()`, the wait also ends if every endpoint has a final failure: one that lasts
    /// until a person corrects something. Final failures are refused credentials that the provider does not change, a host name
    /// that does not exist, and a certificate that is not accepted. The client still keeps trying, unless
    /// `reconnect.whenRefused` is `.stop`, and messages stay in their queue.
    ///
    /// If nothing listens on the port, or the host does not answer, the wait continues, because the broker may start later. The
    /// log warns.
    ///
    /// - Parameter timeout: How long to wait; `nil` waits as long as the client keeps trying.
    /// - Throws: Why there is no connection, or `CancellationError` if the task is cancelled.
    ///   - ``CourierError/Code-swift.struct/timedOut`` after `timeout`; the error names the last failure.
    ///   - ``CourierError/Code-swift.struct/notAuthorized``, ``CourierError/Code-swift.struct/connectionFailed``,
    ///     ``CourierError/Code-swift.struct/connectionRefused``, ``CourierError/Code-swift.struct/secureConnectionFailed`` or
    ///     ``CourierError/Code-swift.struct/invalidConfiguration`` if the next attempt would fail in the same way.
    ///   - ``CourierError/Code-swift.struct/sessionMissing`` if no connection is wanted: `connect()` was not called,
    ///     ``CourierClient/disconnect()`` or ``CourierClient/destroy()`` was called since, or the app came back from the
    ///     background and there is no topic to subscribe to.
    ///   - ``CourierError/Code-swift.struct/sessionTakenOver`` while another client has the session.
    ///   - ``CourierError/Code-swift.struct/clientDestroyed`` if ``CourierClient/destroy()`` ends the wait.
    func connected(timeout: Duration?) async throws

    /// Encodes a value on the caller's side, sends it and waits for the acknowledgement.
    ///
    /// For QoS 0 it returns when the client has accepted the message. For QoS 1 and 2 it waits for a connection and for the
    /// acknowledgement, also after ``CourierClient/disconnect()`` or when the client has stopped trying. The wait has no limit
    /// unless the client's options or ``MessageProperties/messageExpiry`` set one. If the task is cancelled, the wait ends, and an
    /// accepted message is still sent.
    ///
    /// - Parameters:
    ///   - value: The value.
    ///   - request: Where and how.
    /// - Returns: The broker's answer.
    /// - Throws: When it cannot be encoded: ``CourierError/Code-swift.struct/encodingFailed``. When it cannot be
    ///   accepted: ``CourierError/Code-swift.struct/invalidTopicName`` or what else is wrong with the topic,
    ///   ``CourierError/Code-swift.struct/unresolvedPlaceholder`` for `%u` or `%c` where no connection was begun yet that
    ///   has one, ``CourierError/Code-swift.struct/invalidMessage``, ``CourierError/Code-swift.struct/sessionMissing``
    ///   before `connect()` and after ``CourierClient/destroy()``,
    ///   ``CourierError/Code-swift.struct/connectionLost`` for QoS 0 without a connection,
    ///   ``CourierError/Code-swift.struct/queueFull``; with a message store also
    ///   ``CourierError/Code-swift.struct/storeFull`` and ``CourierError/Code-swift.struct/storeFailed``. When it
    ///   cannot be delivered: ``CourierError/Code-swift.struct/messageExpired``,
    ///   ``CourierError/Code-swift.struct/messageReplaced``, ``CourierError/Code-swift.struct/publishRefused``,
    ///   ``CourierError/Code-swift.struct/notAuthorized``, ``CourierError/Code-swift.struct/invalidMessage`` when
    ///   it is too large for the broker, ``CourierError/Code-swift.struct/connectionLost`` when it is not to be sent
    ///   again, ``CourierError/Code-swift.struct/clientDestroyed``. Or `CancellationError`.
    @discardableResult
    nonisolated(nonsending) func publish<Value>(
        _ value: Value, as request: PublishRequest
    ) async throws -> PublishReceipt

    /// Encodes a value on the caller's side, sends it to a topic name and waits for the acknowledgement.
    ///
    /// The same as with a ``PublishRequest`` of these options, for the many messages that need no others.
    ///
    /// - Parameters:
    ///   - value: The value.
    ///   - topic: The topic name, taken as it is.
    ///   - qos: The quality of service.
    ///   - retain: Whether the broker keeps it for later subscribers.
    ///   - properties: The properties of MQTT 5.
    /// - Returns: The broker's answer.
    /// - Throws: What ``publish(_:as:)`` throws.
    @discardableResult
    nonisolated(nonsending) func publish<Value>(
        _ value: Value, to topic: String, qos: QoS, retain: Bool, properties: MessageProperties
    ) async throws -> PublishReceipt

    /// Encodes a value on the caller's side and leaves its delivery to the client: returns as soon as the message is
    /// safe, without waiting for the broker.
    ///
    /// With a message store, a message of QoS 1 or 2 is safe when it is stored: it is delivered even if the process is killed.
    /// Without a store, and for other qualities of service, a message is safe when the client has accepted it. If the client
    /// needs its provider's first answer to know the client id, the call waits for that answer. If there is no room, it waits for
    /// room, as ``publish(_:as:)`` does. An event reports the end of the delivery. If the task is cancelled, the wait ends, and
    /// an accepted message is still sent.
    ///
    /// - Parameters:
    ///   - value: The value.
    ///   - request: Where and how.
    /// - Returns: The accepted message, which can be withdrawn until it is sent.
    /// - Throws: What ``publish(_:as:)`` throws when a value cannot be encoded or accepted, or `CancellationError`.
    @discardableResult
    nonisolated(nonsending) func enqueue<Value>(
        _ value: Value, as request: PublishRequest
    ) async throws -> EnqueuedMessage

    /// Encodes a value on the caller's side and leaves its delivery to a topic name to the client.
    ///
    /// The same as with a ``PublishRequest`` of these options, for the many messages that need no others.
    ///
    /// - Parameters:
    ///   - value: The value.
    ///   - topic: The topic name, taken as it is.
    ///   - qos: The quality of service.
    ///   - retain: Whether the broker keeps it for later subscribers.
    ///   - properties: The properties of MQTT 5.
    /// - Returns: The accepted message, which can be withdrawn until it is sent.
    /// - Throws: What ``publish(_:as:)`` throws when a value cannot be encoded or accepted, or `CancellationError`.
    @discardableResult
    nonisolated(nonsending) func enqueue<Value>(
        _ value: Value, to topic: String, qos: QoS, retain: Bool, properties: MessageProperties
    ) async throws -> EnqueuedMessage

    /// The decoded messages of a topic filter: subscribes when a loop starts, unsubscribes when it is left.
    ///
    /// A loop ends when its task is cancelled. It ends with an error if its filter is not legal
    /// (``CourierError/Code-swift.struct/invalidTopicFilter``), if there are too many filters
    /// (``CourierError/Code-swift.struct/queueFull``), or if the broker refuses the filter
    /// (``CourierError/Code-swift.struct/subscriptionRefused``,
    /// ``CourierError/Code-swift.struct/notAuthorized``). A running loop keeps the client alive and connected, and so
    /// does the sequence as long as it is referenced. The loop continues after ``CourierClient/disconnect()`` with the
    /// next connection. ``CourierClient/destroy()`` ends it with
    /// ``CourierError/Code-swift.struct/clientDestroyed`` only if the broker has not granted its filter yet. What can
    /// not be decoded is left out, and reported as by ``messagePublisher(topic:)``.
    ///
    /// - Parameters:
    ///   - type: The type to decode.
    ///   - request: From where and how.
    /// - Returns: A sequence in which each loop is a reader of its own.
    func messages<Value: Sendable>(_ type: Value.Type, as request: SubscriptionRequest) -> MessageSequence<Value>

    /// Subscribes to a topic filter, and waits for the broker's answer.
    ///
    /// Without a connection it waits for the next one, without a limit. If the task is cancelled, the wait ends, and the
    /// subscription stays.
    ///
    /// - Parameter request: The filter and its options; buffer and acknowledgement have no effect here.
    /// - Returns: The quality of service that the broker granted.
    /// - Throws: ``CourierError/Code-swift.struct/invalidTopicFilter`` or what else is wrong with the topic,
    ///   ``CourierError/Code-swift.struct/unresolvedPlaceholder`` for `%u` or `%c` where no connection was begun yet that
    ///   has one, ``CourierError/Code-swift.struct/queueFull`` when too many filters are known or too many calls wait,
    ///   ``CourierError/Code-swift.struct/subscriptionRefused`` or ``CourierError/Code-swift.struct/notAuthorized``
    ///   when the broker refuses, the former also when the filter is unsubscribed meanwhile,
    ///   ``CourierError/Code-swift.struct/clientDestroyed`` when the client is destroyed before, or
    ///   `CancellationError`.
    @discardableResult
    func subscribe(_ request: SubscriptionRequest) async throws -> QoS

    /// Unsubscribes from a topic filter, and waits until the broker has confirmed it.
    ///
    /// The broker is also asked about a filter that this client never subscribed to, because an earlier process may have
    /// left it in the session. A broker that has no such subscription (0x11) confirms the call like any other. Without a
    /// connection the call waits for the next one.
    ///
    /// It returns at once, and no UNSUBSCRIBE is sent, in two cases. A loop over ``messages(_:as:)`` reads the filter: its
    /// messages continue until the loop is left. Or the broker began the session for this client, which never subscribed to
    /// the filter in it.
    ///
    /// - Parameter request: The filter as it was subscribed, and properties for the UNSUBSCRIBE packet (MQTT 5), which
    ///   go with the next UNSUBSCRIBE for this filter.
    /// - Throws: ``CourierError/Code-swift.struct/invalidTopicFilter`` or what else is wrong with the topic,
    ///   ``CourierError/Code-swift.struct/unresolvedPlaceholder`` for `%u` or `%c` where no connection was begun yet that
    ///   has one, ``CourierError/Code-swift.struct/invalidMessage`` if a property is not legal,
    ///   ``CourierError/Code-swift.struct/queueFull`` when too many calls wait or too many filters are known,
    ///   ``CourierError/Code-swift.struct/subscriptionRefused`` or ``CourierError/Code-swift.struct/notAuthorized``
    ///   when the broker refuses, ``CourierError/Code-swift.struct/clientDestroyed`` when the client is destroyed
    ///   before, or `CancellationError`.
    func unsubscribe(_ request: UnsubscriptionRequest) async throws

    /// What the broker's CONNACK suggests as the beginning of response topics (MQTT 5.0 §3.2.2.3.15), for a client that
    /// asks for it; `nil` if the broker sent none, and before the first connection. It stays until the next CONNACK.
    var responseInformation: String? { get }

    /// Waits until there is room for messages after a publish failed with
    /// ``CourierError/Code-swift.struct/queueFull``; returns at once when there is.
    ///
    /// The first call after such a failure waits until there is room for a message of that size. With a connection it waits until
    /// at most half of the limits is used, so that a fast publisher does not wait for each message. A call without a failure before
    /// it returns at once if there is room for one more message. It does not wait for a message store at its own limit, which is
    /// ``CourierError/Code-swift.struct/storeFull``.
    ///
    /// - Throws: ``CourierError/Code-swift.struct/clientDestroyed`` when the client is destroyed, or
    ///   `CancellationError`.
    func readyToPublish() async throws

    /// Sends a request to a topic and waits for the response, which arrives on a topic of this client (MQTT 5).
    ///
    /// The response topic is `courier/answers/` and the client id, in which `/`, `+` and `#` are percent-encoded, or a random text
    /// for a client without an id. The client subscribes to it with the first request, and keeps the subscription until
    /// ``CourierClient/destroy()``. A later process does not inherit it.
    ///
    /// The request has QoS 1, because its acknowledgement reports that the topic has no subscriber.
    ///
    /// Without a connection it waits for the next one, as part of its timeout. After a timeout or a cancellation, the request may
    /// still be sent. The topic is filled in before the wait: with `%u` or `%c`, await ``connected()`` first.
    ///
    /// - Parameters:
    ///   - request: The request.
    ///   - topic: The topic of the responder, for example of ``respond(at:qos:handler:)``, with a value for each parameter.
    ///   - timeout: The longest time for the connection, the request and the response together.
    ///   - type: The type of the response.
    /// - Returns: The first response.
    /// - Throws: What is wrong with the topic, ``CourierError/Code-swift.struct/unresolvedPlaceholder`` for `%u` or `%c`
    ///   where no connection was begun yet that has one, when the request cannot be sent or the response cannot be decoded,
    ///   ``CourierError/Code-swift.struct/timedOut`` when no response arrives in time: its cause says
    ///   why there is no connection, and its reason code is ``ReasonCode/noMatchingSubscribers`` if the broker reports that
    ///   the topic has no subscriber,
    ///   ``CourierError/Code-swift.struct/sessionMissing`` when no connection is wanted,
    ///   ``CourierError/Code-swift.struct/queueFull`` when 10,000 requests wait for their responses already,
    ///   ``CourierError/Code-swift.struct/clientDestroyed`` when the client is destroyed before,
    ///   ``CourierError/Code-swift.struct/invalidConfiguration`` when the broker does not speak MQTT 5, or
    ///   `CancellationError`.
    func request<Request, Response: Sendable>(
        _ request: Request, at topic: TopicTemplate, timeout: Duration, as type: Response.Type
    ) async throws -> Response

    /// Responds to requests until the task is cancelled (MQTT 5 only).
    ///
    /// Requests are handled one after the other. A request gets no response if it has no response topic, as every message of MQTT
    /// 3.1.1, if it cannot be decoded, or if its handler throws. All of them are reported by
    /// ``CourierEventType/messageReceiveFailure(topic:error:sizeBytes:)``, and the first two are ``DeadLetter``s, too.
    /// Without a listener the log warns, once a minute at most.
    ///
    /// Like a loop over ``messages(_:as:)``, it waits for the first connection that gives `%u` and `%c` a value, and keeps these
    /// values.
    ///
    /// - Parameters:
    ///   - topic: The topic of the requests; open parameters match any level.
    ///   - qos: The quality of service of requests and responses.
    ///   - handler: Makes the response; runs on the caller's side.
    /// - Throws: What a loop over ``messages(_:as:)`` throws: the topic is not legal, or the broker refuses it.
    func respond<Request: Sendable, Response>(
        at topic: TopicTemplate, qos: QoS, handler: @escaping @Sendable (Request) async throws -> Response
    ) async throws

    // MARK: With completions

    /// Connects, like ``connect(source:)``, and reports the result.
    ///
    /// - Parameter completion: Called once on the client's delivery queue: when the connection is established, or
    ///   with the reason if the app must correct something first; ``CourierError/reasonCode`` is the broker's answer.
    func connect(completion: @escaping @Sendable (Result<Void, CourierError>) -> Void)

    /// Ends the connection, like ``CourierClient/disconnect()``, and reports when it is closed.
    ///
    /// Accepted messages of QoS 0 are written first, then DISCONNECT. If the broker does not read or close, the connection is dropped
    /// after 2 s without progress, and after 5 s in any case. Messages of QoS 1 and 2 that are not acknowledged stay for the next
    /// `connect()`, and their callers continue to wait. ``disconnectAndWait()`` is the same for `async` code.
    ///
    /// - Parameter completion: Called once on the client's delivery queue, when there is no connection any more. Success
    ///   means that it was closed in order: what was to be written was, and DISCONNECT behind it. A failure says why not:
    ///   ``CourierError/Code-swift.struct/sessionMissing`` where nothing was connected, otherwise how the connection was
    ///   lost before, with the broker's ``CourierError/reasonCode`` if it gave one.
    func disconnect(completion: @escaping @Sendable (Result<Void, CourierError>) -> Void)

    /// Ends the connection, like ``disconnect(completion:)``, with options for the DISCONNECT packet (MQTT 5).
    ///
    /// The options are checked before the call returns. Without a connection no DISCONNECT is sent, and they have no effect.
    ///
    /// - Parameters:
    ///   - options: The fields of DISCONNECT.
    ///   - completion: Called once on the client's delivery queue, as ``disconnect(completion:)`` says.
    /// - Throws: ``CourierError/Code-swift.struct/invalidMessage`` if a field is not legal, if the session expiry is more
    ///   than 0 while the connection's CONNECT asked for a session of 0 s, or if the packet is larger than the broker takes.
    ///   Then the connection stays, and the completion is not called.
    func disconnect(
        _ options: DisconnectOptions, completion: @escaping @Sendable (Result<Void, CourierError>) -> Void
    ) throws

    /// Publishes bytes without an adapter, and returns before they are sent. This is the fastest way to publish.
    ///
    /// - Parameters:
    ///   - bytes: The payload.
    ///   - topic: The topic name.
    ///   - qos: The quality of service.
    ///   - retain: Whether the broker keeps it for later subscribers.
    ///   - properties: The properties of MQTT 5.
    ///   - completion: Called once with the result, on the client's delivery queue, with the broker's reason code in
    ///     ``PublishReceipt/reasonCode`` or ``CourierError/reasonCode``; `nil` if the result does not matter.
    /// - Throws: What is refused at once, and the completion is then not called:
    ///   ``CourierError/Code-swift.struct/invalidTopicName``,
    ///   ``CourierError/Code-swift.struct/invalidMessage`` when a property is not legal,
    ///   ``CourierError/Code-swift.struct/sessionMissing`` before `connect()` and after
    ///   ``CourierClient/destroy()``, ``CourierError/Code-swift.struct/clientDestroyed`` when another thread calls that
    ///   meanwhile, ``CourierError/Code-swift.struct/connectionLost`` for QoS 0 without a
    ///   connection, ``CourierError/Code-swift.struct/queueFull``. The completion gets all other errors,
    ///   ``CourierError/Code-swift.struct/clientDestroyed`` among it.
    func publish(
        bytes: [UInt8], to topic: String, qos: QoS, retain: Bool, properties: MessageProperties,
        completion: (@Sendable (Result<PublishReceipt, CourierError>) -> Void)?
    ) throws

    /// Publishes bytes without an adapter, from any memory. They are copied before the call returns.
    ///
    /// - Parameters:
    ///   - span: The payload.
    ///   - topic: The topic name.
    ///   - qos: The quality of service.
    ///   - retain: Whether the broker keeps it for later subscribers.
    ///   - properties: The properties of MQTT 5.
    ///   - completion: Called once with the result, on the client's delivery queue, with the broker's reason code in
    ///     ``PublishReceipt/reasonCode`` or ``CourierError/reasonCode``; `nil` if the result does not matter.
    /// - Throws: What ``publish(bytes:to:qos:retain:properties:completion:)`` throws; the completion is then not
    ///   called.
    func publish(
        span: RawSpan, to topic: String, qos: QoS, retain: Bool, properties: MessageProperties,
        completion: (@Sendable (Result<PublishReceipt, CourierError>) -> Void)?
    ) throws

    /// Subscribes to a topic filter, and reports the granted quality of service.
    ///
    /// - Parameters:
    ///   - filter: The topic filter.
    ///   - qos: The highest quality of service.
    ///   - completion: Called once on the client's delivery queue with the granted quality of service, or why there is
    ///     none; ``CourierError/reasonCode`` is the broker's answer.
    func subscribe(_ filter: String, qos: QoS, completion: @escaping @Sendable (Result<QoS, CourierError>) -> Void)

    /// Unsubscribes from a topic filter, and reports when the broker has confirmed it.
    ///
    /// Where ``unsubscribe(from:)-(String)`` does not wait for the broker, this does not, either.
    ///
    /// - Parameters:
    ///   - filter: The filter as it was subscribed.
    ///   - completion: Called once on the client's delivery queue; ``CourierError/reasonCode`` is the broker's answer.
    func unsubscribe(_ filter: String, completion: @escaping @Sendable (Result<Void, CourierError>) -> Void)
}
