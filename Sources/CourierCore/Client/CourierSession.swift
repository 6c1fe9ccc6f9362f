public import Foundation

/// The calls for a connection: connect, subscribe, publish and read messages.
///
/// The first part is the API of Courier iOS. The other parts offer the same functions for `async` code and for code
/// with completion handlers.
///
/// If your own type conforms to ``CourierClient``, it must implement thirteen members of ``CourierClient`` and
/// ``CourierSession``. All other members have documented default implementations. An example is `FakeClient` of
/// CourierTesting, a type for tests.
public protocol CourierSession: CourierEventManager {
    /// The current state of the connection.
    var connectionState: ConnectionState { get }

    /// The connection's state: the current state first, then every change, as long as the client lives.
    ///
    /// Its sinks run on the client's delivery queue.
    var connectionStatePublisher: AnyPublisher<ConnectionState, Never> { get }

    /// The current status of the connection: its state, endpoint, attempt and last failure.
    var connectionStatus: ConnectionStatus { get }

    /// The connection's status: the current status first, then every change, as long as the client lives. When the
    /// client plans an attempt to connect, it sends a status with the attempt's number, its time and the last failure.
    ///
    /// Its sinks run on the client's delivery queue.
    var connectionStatusPublisher: AnyPublisher<ConnectionStatus, Never> { get }

    /// Connects, and reconnects as needed until ``CourierClient/disconnect()``.
    ///
    /// While the client fetches credentials, connects or is connected, a further call has no effect. The event
    /// ``CourierEventType/connectDiscarded(reason:)`` reports the call. While the client waits for the next attempt, or
    /// has stopped after a failure, a call starts a new attempt with new credentials at once. Calls start such attempts
    /// at most every 5 s. If the app is in the background, the attempt begins when the app returns to the foreground.
    func connect()

    /// Connects like ``connect()``, and writes the name of the caller to the log.
    ///
    /// - Parameter source: The caller's name, for logs.
    func connect(source: String)

    /// Subscribes to these topic filters, at once or with the next connection. Subscriptions remain across reconnects.
    /// The client also subscribes again if its client id or the broker's address (host, port, scheme or WebSocket path)
    /// has changed. If the options list several endpoints, these endpoints count as one broker.
    ///
    /// If a filter is not legal or the broker refuses it, the event
    /// ``CourierEventType/subscribeFailure(topics:timeTaken:error:)`` reports the filter. On the same connection, the
    /// client requests a refused filter again only with another quality of service or after `unsubscribe`.
    ///
    /// - Parameter topics: Topic filters, each with the highest quality of service for its messages.
    func subscribe(_ topics: (topic: String, qos: QoS)...)

    /// Subscribes to the topic filters of an array, like the method with a list of arguments.
    ///
    /// - Parameter topics: Topic filters, each with the highest quality of service for its messages.
    func subscribe(_ topics: [(topic: String, qos: QoS)])

    /// Unsubscribes from these topic filters. If the connection is lost before the broker has confirmed the
    /// unsubscription, the client sends UNSUBSCRIBE again on the next connection.
    ///
    /// This call removes subscriptions that `subscribe`, the configuration, or an earlier process in the same session
    /// has made. If a loop over ``messages(_:as:)`` reads the filter, the filter stays subscribed until the loop is
    /// left, and its messages continue. A filter of the configuration is subscribed again after
    /// ``CourierClient/destroy()``, or by the next client.
    ///
    /// - Parameter topics: The subscribed topic filters.
    func unsubscribe(_ topics: String...)

    /// Unsubscribes from the topic filters of an array, like the method with a list of arguments.
    ///
    /// - Parameter topics: The subscribed topic filters.
    func unsubscribe(_ topics: [String])

    /// Encodes a value on the caller's thread, publishes the value, and returns before the message is sent.
    ///
    /// The event ``CourierEventType/messageSendSuccess(topic:qos:sizeBytes:data:)`` or
    /// ``CourierEventType/messageSendFailure(topic:qos:error:sizeBytes:)`` reports the end of the delivery.
    ///
    /// - Parameters:
    ///   - data: The value.
    ///   - topic: The topic name.
    ///   - qos: The quality of service.
    /// - Throws: ``CourierError/Code-swift.struct/encodingFailed`` if no adapter encodes the value, or an error of
    ///   ``publish(bytes:to:qos:retain:properties:completion:)``.
    func publishMessage<E>(_ data: E, topic: String, qos: QoS) throws

    /// The decoded messages of a topic or topic filter, for as long as the client lives.
    ///
    /// The publisher does not subscribe. A message that cannot be decoded is left out, and the event
    /// ``CourierEventType/messageReceiveFailure(topic:error:sizeBytes:)`` reports it. Decoding and sinks run on the
    /// client's delivery queue.
    ///
    /// If the filter is not legal, sinks receive neither values nor a completion. For each sink, the same event reports
    /// ``CourierError/Code-swift.struct/invalidTopicFilter``, and the log warns.
    ///
    /// - Parameter topic: A topic name, or a filter with `+` and `#`.
    /// - Returns: The publisher.
    func messagePublisher<D: Sendable>(topic: String) -> AnyPublisher<D, Never>

    /// The decoded messages of a topic or topic filter, on which the server also sends messages that describe errors.
    ///
    /// - Parameters:
    ///   - topic: A topic name, or a filter with `+` and `#`.
    ///   - errorDecodeHandler: Makes an error from a message that decodes as `E` instead of `D`. It runs on the
    ///     client's delivery queue, like decoding and sinks. If the returned error is not an `NSError`, an `NSError`
    ///     contains it under `NSUnderlyingErrorKey`.
    /// - Returns: A publisher of values and errors.
    @preconcurrency
    func messagePublisher<D: Sendable, E>(
        topic: String, errorDecodeHandler: @escaping @Sendable (E) -> any Error
    ) -> AnyPublisher<Result<D, NSError>, Never>

    /// Every received message of any topic, without decoding. Sinks run on the client's delivery queue.
    ///
    /// - Returns: The publisher.
    func messagePublisher() -> AnyPublisher<Message, Never>

    /// The messages that a reader could not use, because it could not decode them or because a request has no response
    /// topic. Each message is sent once for every such reader, as long as the client lives.
    ///
    /// Its sinks run on the client's delivery queue.
    var deadLetterPublisher: AnyPublisher<DeadLetter, Never> { get }

    // MARK: Functions for async code

    /// Waits until the connection is established, or until `timeout` has passed. Returns at once if the connection is
    /// already established.
    ///
    /// ```swift
    /// client.connect()
    /// try await client.connected(timeout: .seconds(10))
    /// ```
    ///
    /// Before the first connection after `connect()`, the wait also ends if every endpoint has a final failure. A
    /// failure is final if a person must correct its cause. There are three such causes: the provider keeps returning
    /// credentials that the broker refuses, the host name does not exist, or the certificate is not accepted. The
    /// client still keeps trying, unless `reconnect.whenRefused` is `.stop`, and messages stay in their queue. During
    /// the pause after a final failure, a call throws this failure at once. During an attempt, a call waits for the
    /// result.
    ///
    /// If nothing listens on the port, or the host does not answer, the wait continues, because the broker may start
    /// later. The log warns. If you call ``CourierClient/disconnect()``, ``connect()`` and this method in this order,
    /// the call waits for the new connection.
    ///
    /// - Parameter timeout: The maximum time of the wait; `nil` waits as long as the client keeps trying.
    /// - Throws: The reason why there is no connection, or `CancellationError` if the task is cancelled.
    ///   - ``CourierError/Code-swift.struct/timedOut`` after `timeout`; the error names the last failure.
    ///   - ``CourierError/Code-swift.struct/notAuthorized``, ``CourierError/Code-swift.struct/connectionFailed``,
    ///     ``CourierError/Code-swift.struct/connectionRefused``,
    ///     ``CourierError/Code-swift.struct/secureConnectionFailed`` or
    ///     ``CourierError/Code-swift.struct/invalidConfiguration`` if the next attempt would fail in the same way.
    ///   - ``CourierError/Code-swift.struct/sessionMissing`` if the client does not connect: `connect()` was not
    ///     called, ``CourierClient/disconnect()`` or ``CourierClient/destroy()`` was called since, or the app returned
    ///     from the background without a topic to subscribe to.
    ///   - ``CourierError/Code-swift.struct/sessionTakenOver`` while another client has the session.
    ///   - ``CourierError/Code-swift.struct/clientDestroyed`` if ``CourierClient/destroy()`` ends the wait.
    func connected(timeout: Duration?) async throws

    /// Encodes a value on the caller's actor, sends it and waits for the acknowledgement.
    ///
    /// For QoS 0, the call returns when the client has accepted the message. For QoS 1 and 2, the call waits for a
    /// connection and for the acknowledgement. It also waits after ``CourierClient/disconnect()`` or when the client
    /// has stopped trying. The wait has no limit unless the client's options or ``MessageProperties/messageExpiry`` set
    /// one. If the task is cancelled, the wait ends, and an accepted message is still sent.
    ///
    /// - Parameters:
    ///   - value: The value.
    ///   - request: The topic and the options of the message.
    /// - Returns: The broker's acknowledgement.
    /// - Throws: The reason why the message was not delivered, or `CancellationError` if the task is cancelled.
    ///   - If the value cannot be encoded: ``CourierError/Code-swift.struct/encodingFailed``.
    ///   - If the topic is not legal: ``CourierError/Code-swift.struct/invalidTopicName`` or another error of the
    ///     topic. ``CourierError/Code-swift.struct/unresolvedPlaceholder`` if the topic contains `%u` or `%c` and the
    ///     client does not know its user name or client id yet.
    ///   - If the message cannot be accepted: ``CourierError/Code-swift.struct/invalidMessage``,
    ///     ``CourierError/Code-swift.struct/sessionMissing`` before `connect()` and after ``CourierClient/destroy()``,
    ///     ``CourierError/Code-swift.struct/connectionLost`` for QoS 0 without a connection,
    ///     ``CourierError/Code-swift.struct/queueFull``; with a message store also
    ///     ``CourierError/Code-swift.struct/storeFull`` and ``CourierError/Code-swift.struct/storeFailed``.
    ///   - If the message cannot be delivered: ``CourierError/Code-swift.struct/messageExpired``,
    ///     ``CourierError/Code-swift.struct/messageReplaced``, ``CourierError/Code-swift.struct/publishRefused``,
    ///     ``CourierError/Code-swift.struct/notAuthorized``, ``CourierError/Code-swift.struct/invalidMessage`` if it is
    ///     too large for the broker, ``CourierError/Code-swift.struct/connectionLost`` if it may not be sent again,
    ///     ``CourierError/Code-swift.struct/clientDestroyed``.
    @discardableResult
    nonisolated(nonsending) func publish<Value>(
        _ value: Value, as request: PublishRequest
    ) async throws -> PublishReceipt

    /// Encodes a value on the caller's actor, sends it to a topic name and waits for the acknowledgement.
    ///
    /// The effect is the same as with a ``PublishRequest`` that has only these options.
    ///
    /// - Parameters:
    ///   - value: The value.
    ///   - topic: The topic name, used unchanged.
    ///   - qos: The quality of service.
    ///   - retain: Whether the broker keeps the message for later subscribers.
    ///   - properties: The properties of MQTT 5.
    /// - Returns: The broker's acknowledgement.
    /// - Throws: The errors of ``publish(_:as:)``.
    @discardableResult
    nonisolated(nonsending) func publish<Value>(
        _ value: Value, to topic: String, qos: QoS, retain: Bool, properties: MessageProperties
    ) async throws -> PublishReceipt

    /// Encodes a value on the caller's actor, and accepts it for delivery. Returns when the message is safe, without
    /// waiting for the broker.
    ///
    /// With a message store, a message of QoS 1 or 2 is safe when it is stored. Then it is delivered even if the
    /// process is killed. Without a store, and for other qualities of service, a message is safe when the client has
    /// accepted it. If the client id is known only after the provider's first response, the call waits for this
    /// response. If there is no room, the call waits for room, as ``publish(_:as:)`` does. An event reports the end of
    /// the delivery. If the task is cancelled, the wait ends, and an accepted message is still sent.
    ///
    /// - Parameters:
    ///   - value: The value.
    ///   - request: The topic and the options of the message.
    /// - Returns: The accepted message, which can be withdrawn until it is sent.
    /// - Throws: The errors of ``publish(_:as:)`` for a value that cannot be encoded or accepted, or
    ///   `CancellationError`.
    @discardableResult
    nonisolated(nonsending) func enqueue<Value>(
        _ value: Value, as request: PublishRequest
    ) async throws -> EnqueuedMessage

    /// Encodes a value on the caller's actor, and accepts it for delivery to a topic name.
    ///
    /// The effect is the same as with a ``PublishRequest`` that has only these options.
    ///
    /// - Parameters:
    ///   - value: The value.
    ///   - topic: The topic name, used unchanged.
    ///   - qos: The quality of service.
    ///   - retain: Whether the broker keeps the message for later subscribers.
    ///   - properties: The properties of MQTT 5.
    /// - Returns: The accepted message, which can be withdrawn until it is sent.
    /// - Throws: The errors of ``publish(_:as:)`` for a value that cannot be encoded or accepted, or
    ///   `CancellationError`.
    @discardableResult
    nonisolated(nonsending) func enqueue<Value>(
        _ value: Value, to topic: String, qos: QoS, retain: Bool, properties: MessageProperties
    ) async throws -> EnqueuedMessage

    /// Returns the decoded messages of a topic filter. Each loop subscribes when it starts, and unsubscribes when it is
    /// left.
    ///
    /// A loop ends when its task is cancelled. It ends with an error if its filter is not legal
    /// (``CourierError/Code-swift.struct/invalidTopicFilter``), if there are too many filters
    /// (``CourierError/Code-swift.struct/queueFull``), or if the broker refuses the filter
    /// (``CourierError/Code-swift.struct/subscriptionRefused``, ``CourierError/Code-swift.struct/notAuthorized``). A
    /// running loop keeps the client alive and connected. A sequence also keeps the client alive and connected as long
    /// as the app holds the sequence. A loop that ends with an error first gets the messages that arrived before the
    /// error.
    ///
    /// After ``CourierClient/disconnect()``, the loop continues with the next connection. ``CourierClient/destroy()``
    /// ends the loop with ``CourierError/Code-swift.struct/clientDestroyed`` only if the broker has not granted the
    /// loop's filter yet. A message that cannot be decoded is left out, and reported as with
    /// ``messagePublisher(topic:)``.
    ///
    /// - Parameters:
    ///   - type: The type to decode.
    ///   - request: The topic filter and the options of the subscription.
    /// - Returns: A sequence. Each loop over it is a separate reader.
    func messages<Value: Sendable>(_ type: Value.Type, as request: SubscriptionRequest) -> MessageSequence<Value>

    /// Subscribes to a topic filter, and waits until the broker grants or refuses the subscription.
    ///
    /// Without a connection, the call waits for the next connection, without a time limit. If the task is cancelled,
    /// the wait ends, and the subscription remains.
    ///
    /// - Parameter request: The filter and its options; buffer and acknowledgement have no effect here.
    /// - Returns: The quality of service that the broker granted.
    /// - Throws: ``CourierError/Code-swift.struct/invalidTopicFilter`` or another error of the topic, or
    ///   `CancellationError`.
    ///   - ``CourierError/Code-swift.struct/unresolvedPlaceholder`` if the topic contains `%u` or `%c` and the client
    ///     does not know its user name or client id yet.
    ///   - ``CourierError/Code-swift.struct/queueFull`` if there are too many filters or waiting calls.
    ///   - ``CourierError/Code-swift.struct/subscriptionRefused`` or ``CourierError/Code-swift.struct/notAuthorized``
    ///     if the broker refuses the filter; `subscriptionRefused` also if the filter is unsubscribed before the broker
    ///     answers.
    ///   - ``CourierError/Code-swift.struct/clientDestroyed`` if the client is destroyed before the broker answers.
    @discardableResult
    func subscribe(_ request: SubscriptionRequest) async throws -> QoS

    /// Unsubscribes from a topic filter, and waits until the broker has confirmed the unsubscription.
    ///
    /// UNSUBSCRIBE is also sent for a filter that this client never subscribed to, because an earlier process may have
    /// left the subscription in the session. If the broker has no subscription for the filter (0x11), the call also
    /// succeeds. Without a connection, the call waits for the next connection. UNSUBSCRIBE is sent even for a filter
    /// that CONNACK does not allow.
    ///
    /// In two cases, the call returns at once and sends no UNSUBSCRIBE:
    /// - A loop over ``messages(_:as:)`` reads the filter. Its messages continue until the loop is left.
    /// - The broker began the session for this client, and this client never subscribed to the filter in this session.
    ///
    /// - Parameter request: The subscribed filter, and the properties (MQTT 5) of the next UNSUBSCRIBE packet for this
    ///   filter.
    /// - Throws: ``CourierError/Code-swift.struct/invalidTopicFilter`` or another error of the topic, or
    ///   `CancellationError`.
    ///   - ``CourierError/Code-swift.struct/unresolvedPlaceholder`` if the topic contains `%u` or `%c` and the client
    ///     does not know its user name or client id yet.
    ///   - ``CourierError/Code-swift.struct/invalidMessage`` if a property is not legal.
    ///   - ``CourierError/Code-swift.struct/queueFull`` if there are too many filters or waiting calls.
    ///   - ``CourierError/Code-swift.struct/subscriptionRefused`` or ``CourierError/Code-swift.struct/notAuthorized``
    ///     if the broker refuses the request.
    ///   - ``CourierError/Code-swift.struct/clientDestroyed`` if the client is destroyed before the broker answers.
    func unsubscribe(_ request: UnsubscriptionRequest) async throws

    /// The prefix for response topics that the broker's CONNACK suggests (MQTT 5.0 §3.2.2.3.15), if the client requests
    /// one. `nil` if the broker sent no prefix, and before the first connection. The value remains until the next
    /// CONNACK.
    var responseInformation: String? { get }

    /// Waits until there is room for messages after a publish failed with ``CourierError/Code-swift.struct/queueFull``.
    /// Returns at once if there is room.
    ///
    /// After a publish failed with `queueFull`, the first call waits until there is room for a message of the refused
    /// size. With a connection, this first call waits until at most half of the limits is used. So a fast publisher
    /// does not wait for each message. If no publish has failed since the last call, a call waits only until there is
    /// room for one small message. No call waits for room in a message store, whose limit is reported as
    /// ``CourierError/Code-swift.struct/storeFull``.
    ///
    /// - Throws: ``CourierError/Code-swift.struct/clientDestroyed`` if the client is destroyed, or `CancellationError`.
    func readyToPublish() async throws

    /// The messages that wait to be sent: their number, and the oldest of them with topic, size and age.
    ///
    /// After `connect()`, reading this property waits until the client has counted the messages that an earlier process
    /// stored. Before the client can count these messages, it must know their client id and broker. So the wait can
    /// include the time until the provider returns connect options. If the provider or the store fails, or the attempt
    /// to connect ends, the wait ends.
    ///
    /// Reading this property throws the error of the message store if the store cannot be read, or `CancellationError`.
    var waiting: WaitingMessages { get async throws }

    /// The client's counts, such as accepted, acknowledged and waiting messages, connections and bytes. Reading the
    /// counts is fast and does not wait.
    var metrics: ClientMetrics { get }

    /// Sends a request to a topic and waits for the response, which arrives on a topic of this client (MQTT 5).
    ///
    /// The response topic is `courier/answers/`, followed by the client id. In the client id, `/`, `+` and `#` are
    /// percent-encoded. If the client has no id, the topic contains a random text instead. The client subscribes to the
    /// response topic with the first request, and keeps the subscription until ``CourierClient/destroy()``. A later
    /// process does not inherit the subscription.
    ///
    /// The request has QoS 1. With QoS 1, the broker's acknowledgement reports if the topic has no subscriber.
    ///
    /// Without a connection, the call waits for the next connection; the wait counts toward the timeout. After a
    /// timeout or a cancellation, the request may still be sent. The values of `%u` and `%c` in the topic must be known
    /// before the call, so await ``connected()`` first.
    ///
    /// - Parameters:
    ///   - request: The request.
    ///   - topic: The topic of the responder, for example the topic that it passes to ``respond(at:qos:handler:)``.
    ///     Each parameter must have a value.
    ///   - timeout: The longest time for the connection, the request and the response together.
    ///   - type: The type of the response.
    /// - Returns: The first response.
    /// - Throws: An error if the topic is not legal, if the request cannot be sent or if the response cannot be
    ///   decoded, or `CancellationError`.
    ///   - ``CourierError/Code-swift.struct/unresolvedPlaceholder`` if the topic contains `%u` or `%c` and the client
    ///     does not know its user name or client id yet.
    ///   - ``CourierError/Code-swift.struct/timedOut`` if no response arrives in time. If there is no connection, the
    ///     error's cause is the reason for this. The error's reason code is ``ReasonCode/noMatchingSubscribers`` if the
    ///     broker reports that the topic has no subscriber.
    ///   - ``CourierError/Code-swift.struct/sessionMissing`` if the client does not connect.
    ///   - ``CourierError/Code-swift.struct/queueFull`` if 10,000 requests already wait for their responses.
    ///   - ``CourierError/Code-swift.struct/clientDestroyed`` if the client is destroyed before the response.
    ///   - ``CourierError/Code-swift.struct/invalidConfiguration`` if the broker does not support MQTT 5.
    func request<Request, Response: Sendable>(
        _ request: Request, at topic: TopicTemplate, timeout: Duration, as type: Response.Type
    ) async throws -> Response

    /// Responds to requests until the task is cancelled (MQTT 5 only).
    ///
    /// Requests are handled one after the other. A request gets no response if it has no response topic, like every
    /// message of MQTT 3.1.1. It also gets no response if it cannot be decoded, or if its handler throws. The event
    /// ``CourierEventType/messageReceiveFailure(topic:error:sizeBytes:)`` reports each case. In the first two cases,
    /// the request is also a ``DeadLetter``. If the app does not listen to events or dead letters, the log warns, at
    /// most once a minute.
    ///
    /// Like a loop over ``messages(_:as:)``, the call waits for the first connection that defines `%u` and `%c`, and
    /// uses their values until it ends.
    ///
    /// - Parameters:
    ///   - topic: The topic of the requests. A parameter without a value matches any level.
    ///   - qos: The quality of service of requests and responses.
    ///   - handler: Makes the response. It runs in the task of this call.
    /// - Throws: The errors of a loop over ``messages(_:as:)``: the topic is not legal, or the broker refuses it.
    func respond<Request: Sendable, Response>(
        at topic: TopicTemplate, qos: QoS, handler: @escaping @Sendable (Request) async throws -> Response
    ) async throws

    // MARK: Processing

    /// Handles the messages of a topic until the processor is stopped. Repeats failed attempts, and parks messages that
    /// cannot be handled.
    ///
    /// A message is handled when the handler returns. If the handler throws, the next attempt follows after a pause.
    /// After the last attempt, or if no adapter can decode the message, the message is parked; see ``parked``. With a
    /// message store, a message is stored before it is acknowledged to the broker, so it survives the end of the
    /// process. Without a store, the message is acknowledged after the handler has returned, or when it is parked.
    ///
    /// A processor keeps its client alive until it is stopped.
    ///
    /// - Parameters:
    ///   - type: The type to decode.
    ///   - request: The topic filter and the options of the subscription. `acknowledge` and `buffer` have no effect.
    ///   - name: The name of the processor; the topic filter if it is `nil`. The next process finds stored messages by
    ///     this name.
    ///   - policy: The number of handlers at once, the order of messages, the retries, and the limits.
    ///   - handler: Handles one message. It runs in a task of the processor.
    /// - Returns: The processor, which has started.
    /// - Throws: An error if the topic is not legal. ``CourierError/Code-swift.struct/invalidConfiguration`` if another
    ///   processor of this client has the name, or if the message store keeps no jobs.
    func process<Value: Sendable>(
        _ type: Value.Type, as request: SubscriptionRequest, name: String?, policy: ProcessingPolicy<Value>,
        handler: @escaping @Sendable (Value, ProcessingContext) async throws -> Void
    ) throws -> any MessageProcessor

    /// The messages that processors have parked. The object lists these messages, and retries or removes them.
    var parked: any ParkedMessages { get }

    // MARK: Functions with completion handlers

    /// Connects, like ``connect(source:)``, and reports the result.
    ///
    /// - Parameter completion: Called once on the client's delivery queue: with success when the connection is
    ///   established, or with an error if the app must correct something before the client can connect.
    ///   ``CourierError/reasonCode`` is the broker's reason code.
    func connect(completion: @escaping @Sendable (Result<Void, CourierError>) -> Void)

    /// Ends the connection, like ``CourierClient/disconnect()``, and reports when the connection is closed.
    ///
    /// Accepted messages of QoS 0 are written first, then DISCONNECT. If the broker does not read or does not close the
    /// connection, the client drops the connection. The client waits 2 s without progress, and at most 5 s in total.
    /// Messages of QoS 1 and 2 that are not acknowledged stay for the next `connect()`, and their callers continue to
    /// wait. ``disconnectAndWait()`` is the same for `async` code.
    ///
    /// - Parameter completion: Called once on the client's delivery queue, when the connection has ended. Success means
    ///   that the connection was closed normally: all pending bytes were written, followed by DISCONNECT. A failure is
    ///   the reason: ``CourierError/Code-swift.struct/sessionMissing`` if there was no connection, otherwise the error
    ///   of the lost connection, with the broker's ``CourierError/reasonCode`` if it sent one.
    func disconnect(completion: @escaping @Sendable (Result<Void, CourierError>) -> Void)

    /// Ends the connection, like ``disconnect(completion:)``, with options for the DISCONNECT packet (MQTT 5).
    ///
    /// The options are checked before the call returns. Without a connection, no DISCONNECT is sent, and the options
    /// have no effect.
    ///
    /// - Parameters:
    ///   - options: The fields of DISCONNECT.
    ///   - completion: Called once on the client's delivery queue, as ``disconnect(completion:)`` describes.
    /// - Throws: ``CourierError/Code-swift.struct/invalidMessage`` in three cases. The connection then stays open, and
    ///   the completion is not called.
    ///   - A field is not legal.
    ///   - The session expiry is more than 0 although CONNECT requested a session expiry of 0 s.
    ///   - The packet is larger than the broker accepts.
    func disconnect(
        _ options: DisconnectOptions, completion: @escaping @Sendable (Result<Void, CourierError>) -> Void
    ) throws

    /// Publishes bytes without an adapter, and returns before the message is sent. This method is the fastest way to
    /// publish.
    ///
    /// - Parameters:
    ///   - bytes: The payload.
    ///   - topic: The topic name.
    ///   - qos: The quality of service.
    ///   - retain: Whether the broker keeps the message for later subscribers.
    ///   - properties: The properties of MQTT 5.
    ///   - completion: Called once with the result, on the client's delivery queue. The broker's reason code is in
    ///     ``PublishReceipt/reasonCode`` or ``CourierError/reasonCode``. `nil` if the app needs no result.
    /// - Throws: An error if the client refuses the message at once. The completion is then not called. The completion
    ///   receives all other errors, including ``CourierError/Code-swift.struct/clientDestroyed``.
    ///   - ``CourierError/Code-swift.struct/invalidTopicName``, or ``CourierError/Code-swift.struct/invalidMessage`` if
    ///     a property is not legal.
    ///   - ``CourierError/Code-swift.struct/sessionMissing`` before `connect()` and after ``CourierClient/destroy()``,
    ///     or ``CourierError/Code-swift.struct/clientDestroyed`` if another thread calls `destroy()` at the same time.
    ///   - ``CourierError/Code-swift.struct/connectionLost`` for QoS 0 without a connection.
    ///   - ``CourierError/Code-swift.struct/queueFull`` if there is no room.
    func publish(
        bytes: [UInt8], to topic: String, qos: QoS, retain: Bool, properties: MessageProperties,
        completion: (@Sendable (Result<PublishReceipt, CourierError>) -> Void)?
    ) throws

    /// Publishes bytes without an adapter, from any memory. The bytes are copied before the call returns.
    ///
    /// - Parameters:
    ///   - span: The payload.
    ///   - topic: The topic name.
    ///   - qos: The quality of service.
    ///   - retain: Whether the broker keeps the message for later subscribers.
    ///   - properties: The properties of MQTT 5.
    ///   - completion: Called once with the result, on the client's delivery queue. The broker's reason code is in
    ///     ``PublishReceipt/reasonCode`` or ``CourierError/reasonCode``. `nil` if the app needs no result.
    /// - Throws: The errors of ``publish(bytes:to:qos:retain:properties:completion:)``; the completion is then not
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
    ///   - completion: Called once on the client's delivery queue, with the granted quality of service or the error.
    ///     ``CourierError/reasonCode`` is the broker's reason code.
    func subscribe(_ filter: String, qos: QoS, completion: @escaping @Sendable (Result<QoS, CourierError>) -> Void)

    /// Unsubscribes from a topic filter, and reports when the broker has confirmed the unsubscription.
    ///
    /// If ``unsubscribe(from:)-(String)`` would return at once, the completion is also called at once.
    ///
    /// - Parameters:
    ///   - filter: The subscribed filter.
    ///   - completion: Called once on the client's delivery queue. ``CourierError/reasonCode`` is the broker's reason
    ///     code.
    func unsubscribe(_ filter: String, completion: @escaping @Sendable (Result<Void, CourierError>) -> Void)
}
