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

    /// The connection's state: the present one first, then every change, until the client is gone.
    ///
    /// Its sinks run on the client's delivery queue.
    var connectionStatePublisher: AnyPublisher<ConnectionState, Never> { get }

    /// Wants a connection from now on, reconnecting as needed.
    ///
    /// While the client asks for credentials, connects or is connected, a further call changes nothing and is the event
    /// ``CourierEventType/connectDiscarded(reason:)``. While it waits for the next attempt, or has stopped after a failure,
    /// the call makes it ask for credentials anew and try again at once, at most every 5 s. In the background it tries
    /// when the app comes back.
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
    /// This call removes subscriptions of `subscribe`, of the configuration, and of an earlier process in the same
    /// session.
    /// A filter that a loop over
    /// ``messages(_:as:)`` reads stays subscribed until the loop is left, and its messages go on. One of the
    /// configuration is wanted again after ``CourierClient/destroy()``, or by the next client.
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
    /// - Throws: ``CourierError/Code-swift.struct/encodingFailed`` when no adapter encodes the value, or what
    ///   ``publish(bytes:to:qos:retain:properties:completion:)`` throws.
    func publishMessage<E>(_ data: E, topic: String, qos: QoS) throws

    /// The decoded messages of a topic or topic filter, for as long as the client lives.
    ///
    /// It does not subscribe. What can not be decoded is left out and reported by
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

    /// The messages that a reader could not use, as it could not decode them or a question has no response topic; each
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
    /// If nothing listens on the port, or the host does not answer, the wait goes on, because the broker may start later. The
    /// log warns.
    ///
    /// - Parameter timeout: How long to wait; `nil` waits as long as the client keeps trying.
    /// - Throws: Why there is no connection, or `CancellationError` if the task is cancelled.
    ///   - ``CourierError/Code-swift.struct/timedOut`` after `timeout`; the error names the last failure.
    ///   - ``CourierError/Code-swift.struct/notAuthorized``, ``CourierError/Code-swift.struct/connectionFailed``,
    ///     ``CourierError/Code-swift.struct/connectionRefused``, ``CourierError/Code-swift.struct/secureConnectionFailed`` or
    ///     ``CourierError/Code-swift.struct/invalidConfiguration`` if the next attempt would fail in the same way.
    ///   - ``CourierError/Code-swift.struct/sessionMissing`` if no connection is wanted: `connect()` was not called,
    ///     ``CourierClient/disconnect()`` was called since, or the app came back from the background and there is no topic to
    ///     subscribe to.
    ///   - ``CourierError/Code-swift.struct/sessionTakenOver`` while another client has the session.
    ///   - ``CourierError/Code-swift.struct/clientDestroyed`` after ``CourierClient/destroy()``.
    func connected(timeout: Duration?) async throws

    /// Encodes a value on the caller's side, sends it and waits for the acknowledgement.
    ///
    /// Returns for QoS 0 when the client has taken the message; what becomes of it then is not told. With QoS 1 and 2
    /// it waits for a connection, also after ``CourierClient/disconnect()`` or when the client has stopped trying,
    /// without an end unless the client's limits on waiting or ``MessageProperties/messageExpiry`` set one. Cancelling
    /// the task ends the waiting, not the delivery: a message that was accepted is still sent.
    ///
    /// - Parameters:
    ///   - value: The value.
    ///   - request: Where and how.
    /// - Returns: The broker's word on it.
    /// - Throws: When it can not be encoded: ``CourierError/Code-swift.struct/encodingFailed``. When it can not be
    ///   accepted: ``CourierError/Code-swift.struct/invalidTopicName`` or what else is wrong with the topic,
    ///   ``CourierError/Code-swift.struct/unresolvedPlaceholder`` for `%u` or `%c` where no connection was begun yet that
    ///   has one, ``CourierError/Code-swift.struct/invalidMessage``, ``CourierError/Code-swift.struct/sessionMissing``
    ///   before `connect()` and after ``CourierClient/destroy()``,
    ///   ``CourierError/Code-swift.struct/connectionLost`` for QoS 0 without a connection,
    ///   ``CourierError/Code-swift.struct/queueFull``; with a message store also
    ///   ``CourierError/Code-swift.struct/storeFull`` and ``CourierError/Code-swift.struct/storeFailed``. When it
    ///   can not be delivered: ``CourierError/Code-swift.struct/messageExpired``,
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
    ///   - retain: Whether the broker keeps it for those who subscribe later.
    ///   - properties: The properties of MQTT 5.
    /// - Returns: The broker's word on it.
    /// - Throws: What ``publish(_:as:)`` throws.
    @discardableResult
    nonisolated(nonsending) func publish<Value>(
        _ value: Value, to topic: String, qos: QoS, retain: Bool, properties: MessageProperties
    ) async throws -> PublishReceipt

    /// Encodes a value on the caller's side and leaves its delivery to the client: returns as soon as the message is
    /// safe, without waiting for the broker.
    ///
    /// With a message store that is when QoS 1 and 2 are stored, as durably as the store promises: from then on the
    /// message is delivered even if the process is killed. Without one, and for other qualities of service, it is when
    /// the client has taken the message. A client that learns from its provider whose messages it stores waits for the
    /// provider's first answer. Where there is no room it waits for some, as ``publish(_:as:)`` does. How the delivery
    /// ends is an event. Cancelling the task ends the waiting, not the delivery.
    ///
    /// - Parameters:
    ///   - value: The value.
    ///   - request: Where and how.
    /// - Returns: The accepted message, which can be withdrawn until it is sent.
    /// - Throws: What ``publish(_:as:)`` throws when a value can not be encoded or accepted, or `CancellationError`.
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
    ///   - retain: Whether the broker keeps it for those who subscribe later.
    ///   - properties: The properties of MQTT 5.
    /// - Returns: The accepted message, which can be withdrawn until it is sent.
    /// - Throws: What ``publish(_:as:)`` throws when a value can not be encoded or accepted, or `CancellationError`.
    @discardableResult
    nonisolated(nonsending) func enqueue<Value>(
        _ value: Value, to topic: String, qos: QoS, retain: Bool, properties: MessageProperties
    ) async throws -> EnqueuedMessage

    /// The decoded messages of a topic filter: subscribes when a loop starts, unsubscribes when it is left.
    ///
    /// A loop ends when its task is cancelled. It ends with an error when its filter is not legal
    /// (``CourierError/Code-swift.struct/invalidTopicFilter``), too many are known
    /// (``CourierError/Code-swift.struct/queueFull``), or the broker refuses it
    /// (``CourierError/Code-swift.struct/subscriptionRefused``,
    /// ``CourierError/Code-swift.struct/notAuthorized``). A running loop keeps the client alive and connected, and so
    /// does the sequence as long as somebody holds it. The loop goes on after ``CourierClient/disconnect()`` with the
    /// next connection. ``CourierClient/destroy()`` ends it with
    /// ``CourierError/Code-swift.struct/clientDestroyed`` only if the broker has not granted its filter yet. What can
    /// not be decoded is left out, and reported as by ``messagePublisher(topic:)``.
    ///
    /// - Parameters:
    ///   - type: The type to decode.
    ///   - request: From where and how.
    /// - Returns: A sequence in which each loop is a reader of its own.
    func messages<Value: Sendable>(_ type: Value.Type, as request: SubscriptionRequest) -> MessageSequence<Value>

    /// Wants messages of a topic filter, as the form with pairs does, and waits for the broker's word.
    ///
    /// Without a connection it waits for the next one, without an end. Cancelling the task ends the waiting, not the
    /// subscription.
    ///
    /// - Parameter request: What and how; its buffer and acknowledgement are for readers and have no meaning here.
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

    /// Wants no more messages of a topic filter, and waits until the broker has confirmed it.
    ///
    /// The broker is also asked about a filter that this client never subscribed to, because an earlier process may have
    /// left it in the session. A broker that has no such subscription (0x11) confirms the call like any other. Without a
    /// connection the call waits for the next one.
    ///
    /// It returns at once, and no UNSUBSCRIBE is sent, in two cases. A loop over ``messages(_:as:)`` reads the filter: its
    /// messages go on until the loop is left. Or the broker began the session for this client, which never subscribed to
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
    /// The first call after such a failure waits until there is room for a message of that size, and with a connection until
    /// at most half of what may wait does: who publishes as fast as there is room does not wait for each message. A call
    /// without a failure before it returns at once while there is room for one more message. Where there is a message store,
    /// that is room on the way into it; a store at its own limit, which is
    /// ``CourierError/Code-swift.struct/storeFull``, is not waited for.
    ///
    /// - Throws: ``CourierError/Code-swift.struct/clientDestroyed`` when the client is destroyed, or
    ///   `CancellationError`.
    func readyToPublish() async throws

    /// Asks a question on one topic and waits for the answer, which comes on a topic of this client's own (MQTT 5).
    ///
    /// That topic is `courier/answers/` and the client id, in which `/`, `+` and `#` are percent-encoded, or a random text
    /// for a client without an id of its own. The client subscribes to it with the first question and keeps the
    /// subscription for those that follow, but not beyond ``CourierClient/destroy()``; a later process does not take it
    /// over.
    ///
    /// The question has QoS 1: its acknowledgement is what tells that nobody is subscribed to the topic.
    ///
    /// Without a connection it waits for the next one, as part of its timeout. When it ends without an answer, by its
    /// timeout or because its task is cancelled, the question may still be on its way. The topic is filled in before the
    /// question waits for a connection: with `%u` or `%c`, await ``connected()`` first.
    ///
    /// - Parameters:
    ///   - question: The question.
    ///   - topic: Where somebody answers, for example by ``respond(at:qos:handler:)``; all its parameters given.
    ///   - timeout: How long the call takes at most: for the connection, the question and the answer.
    ///   - type: The type of the answer.
    /// - Returns: The first answer.
    /// - Throws: What is wrong with the topic, ``CourierError/Code-swift.struct/unresolvedPlaceholder`` for `%u` or `%c`
    ///   where no connection was begun yet that has one. When the question can not be sent or the answer not be decoded,
    ///   ``CourierError/Code-swift.struct/timedOut`` when none comes in time, which says what was missing: its cause says
    ///   why there is no connection, its reason code is ``ReasonCode/noMatchingSubscribers`` where the broker says that
    ///   nobody would get the question,
    ///   ``CourierError/Code-swift.struct/sessionMissing`` when nobody wants a connection,
    ///   ``CourierError/Code-swift.struct/queueFull`` when 10,000 questions wait for their answers already,
    ///   ``CourierError/Code-swift.struct/clientDestroyed`` when the client is destroyed before,
    ///   ``CourierError/Code-swift.struct/invalidConfiguration`` when the broker does not speak MQTT 5, or
    ///   `CancellationError`.
    func request<Question, Answer: Sendable>(
        _ question: Question, at topic: TopicTemplate, timeout: Duration, as type: Answer.Type
    ) async throws -> Answer

    /// Answers questions until the task is cancelled (MQTT 5 only).
    ///
    /// Questions are answered one after the other. One without a response topic, as every message of MQTT 3.1.1 is, gets
    /// no answer, and neither does one that can not be decoded or whose handler throws. All of them are reported by
    /// ``CourierEventType/messageReceiveFailure(topic:error:sizeBytes:)``, and the first two are ``DeadLetter``s, too.
    /// Where nobody listens the log warns, once a minute at most.
    ///
    /// Like a loop over ``messages(_:as:)`` it waits for the first connection that gives `%u` and `%c` their meaning, and
    /// keeps what it has filled in.
    ///
    /// - Parameters:
    ///   - topic: The topic on which questions come; open parameters stand for any level.
    ///   - qos: The quality of service of questions and answers.
    ///   - handler: Makes the answer; runs on the caller's side.
    /// - Throws: What a loop over ``messages(_:as:)`` throws: the topic is not legal, or the broker refuses it.
    func respond<Question: Sendable, Answer>(
        at topic: TopicTemplate, qos: QoS, handler: @escaping @Sendable (Question) async throws -> Answer
    ) async throws

    // MARK: With completions

    /// Wants a connection, like ``connect(source:)``, and tells how it went.
    ///
    /// - Parameter completion: Called once on the client's delivery queue: when the connection is established, or
    ///   with why it can not be without the app doing something first; ``CourierError/reasonCode`` is the broker's word.
    func connect(completion: @escaping @Sendable (Result<Void, CourierError>) -> Void)

    /// Ends the connection, like ``CourierClient/disconnect()``, and tells when it is closed.
    ///
    /// What the client has taken for QoS 0 is written first, then DISCONNECT. A broker that does not read or close is left
    /// when nothing has moved for 2 s, and after 5 s in any case. Messages of QoS 1 and 2 that are not acknowledged stay for
    /// the next `connect()`, and who waits for them goes on waiting. ``disconnectAndWait()`` is the same for `async` code.
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
    ///   - options: What DISCONNECT tells the broker.
    ///   - completion: Called once on the client's delivery queue, as ``disconnect(completion:)`` says.
    /// - Throws: ``CourierError/Code-swift.struct/invalidMessage`` if a field is not legal, if the session expiry is more
    ///   than 0 while the connection's CONNECT asked for a session of 0 s, or if the packet is larger than the broker takes.
    ///   Then the connection stays, and the completion is not called.
    func disconnect(
        _ options: DisconnectOptions, completion: @escaping @Sendable (Result<Void, CourierError>) -> Void
    ) throws

    /// Hands bytes over for sending, past the adapters, and returns before they are sent: the fastest way to publish.
    ///
    /// - Parameters:
    ///   - bytes: The payload.
    ///   - topic: The topic name.
    ///   - qos: The quality of service.
    ///   - retain: Whether the broker keeps it for those who subscribe later.
    ///   - properties: The properties of MQTT 5.
    ///   - completion: Told once how it ended, on the client's delivery queue, with the broker's reason code in
    ///     ``PublishReceipt/reasonCode`` or ``CourierError/reasonCode``; `nil` when nobody wants to know.
    /// - Throws: What is refused at once, and the completion is then not called:
    ///   ``CourierError/Code-swift.struct/invalidTopicName``,
    ///   ``CourierError/Code-swift.struct/invalidMessage`` when a property is not legal,
    ///   ``CourierError/Code-swift.struct/sessionMissing`` before `connect()` and after
    ///   ``CourierClient/destroy()``, ``CourierError/Code-swift.struct/clientDestroyed`` when another thread calls that
    ///   meanwhile, ``CourierError/Code-swift.struct/connectionLost`` for QoS 0 without a
    ///   connection, ``CourierError/Code-swift.struct/queueFull``. All else is told to the completion,
    ///   ``CourierError/Code-swift.struct/clientDestroyed`` among it.
    func publish(
        bytes: [UInt8], to topic: String, qos: QoS, retain: Bool, properties: MessageProperties,
        completion: (@Sendable (Result<PublishReceipt, CourierError>) -> Void)?
    ) throws

    /// Hands bytes over for sending, past the adapters, from wherever they stand: they are copied before this returns.
    ///
    /// - Parameters:
    ///   - span: The payload.
    ///   - topic: The topic name.
    ///   - qos: The quality of service.
    ///   - retain: Whether the broker keeps it for those who subscribe later.
    ///   - properties: The properties of MQTT 5.
    ///   - completion: Told once how it ended, on the client's delivery queue, with the broker's reason code in
    ///     ``PublishReceipt/reasonCode`` or ``CourierError/reasonCode``; `nil` when nobody wants to know.
    /// - Throws: What ``publish(bytes:to:qos:retain:properties:completion:)`` throws; the completion is then not
    ///   called.
    func publish(
        span: RawSpan, to topic: String, qos: QoS, retain: Bool, properties: MessageProperties,
        completion: (@Sendable (Result<PublishReceipt, CourierError>) -> Void)?
    ) throws

    /// Wants messages of a topic filter, and tells what the broker granted.
    ///
    /// - Parameters:
    ///   - filter: The topic filter.
    ///   - qos: The highest quality of service.
    ///   - completion: Called once on the client's delivery queue with the granted quality of service, or why there is
    ///     none; ``CourierError/reasonCode`` is the broker's word.
    func subscribe(_ filter: String, qos: QoS, completion: @escaping @Sendable (Result<QoS, CourierError>) -> Void)

    /// Wants no more messages of a topic filter, and tells when the broker has confirmed it.
    ///
    /// Where ``unsubscribe(from:)-(String)`` does not wait for the broker, this does not, either.
    ///
    /// - Parameters:
    ///   - filter: The filter as it was subscribed.
    ///   - completion: Called once on the client's delivery queue; ``CourierError/reasonCode`` is the broker's word.
    func unsubscribe(_ filter: String, completion: @escaping @Sendable (Result<Void, CourierError>) -> Void)
}
