extension CourierSession {
    /// The connection's state as a sequence: the present one first, then every change.
    ///
    /// Each loop has a buffer of its own, of ``BufferPolicy/values``: a reader that is slower loses the oldest
    /// states, never the last.
    public var states: PublisherValues<ConnectionState, Never> { connectionStatePublisher.values }

    /// The connection's status as a sequence: the present one first, then every change.
    ///
    /// Each loop has a buffer of its own, of ``BufferPolicy/values``: a reader that is slower loses the oldest
    /// values, never the last.
    public var statuses: PublisherValues<ConnectionStatus, Never> { connectionStatusPublisher.values }

    /// The messages that a reader could not use, from now on, as a sequence.
    ///
    /// Each loop has a buffer of its own, of ``BufferPolicy/values``.
    public var deadLetters: PublisherValues<DeadLetter, Never> { deadLetterPublisher.values }

    /// Waits until the connection is established, as ``connected(timeout:)`` does, without a time limit.
    ///
    /// - Throws: What ``connected(timeout:)`` throws.
    public nonisolated(nonsending) func connected() async throws { try await connected(timeout: nil) }

    /// Ends the connection, and returns when it has ended; at once when there is none.
    ///
    /// ```swift
    /// await client.disconnectAndWait()
    /// exit(0)  // The broker has DISCONNECT, and publishes no will.
    /// ```
    ///
    /// What was on its way is done or left for the next `connect()` as ``disconnect(completion:)`` says. The call is made
    /// on the caller's side, before anything is awaited. The return comes by way of the client's delivery queue, which must
    /// not be blocked meanwhile. Only ``disconnect(completion:)`` reports whether the connection was closed in order.
    /// Cancelling the task ends neither the disconnect nor the wait, which is over within seconds.
    public nonisolated(nonsending) func disconnectAndWait() async {
        await withCheckedContinuation { continuation in
            disconnect { _ in continuation.resume() }
        }
    }

    /// Ends the connection with options for the DISCONNECT packet (MQTT 5), and returns when it has ended; at once when there
    /// is none.
    ///
    /// ```swift
    /// try await client.disconnectAndWait(DisconnectOptions(sessionExpiry: .zero))  // The broker forgets the session.
    /// ```
    ///
    /// Everything else is as ``disconnectAndWait()`` says.
    ///
    /// - Parameter options: The fields of DISCONNECT.
    /// - Throws: What ``disconnect(_:completion:)`` throws; the connection stays then.
    public nonisolated(nonsending) func disconnectAndWait(_ options: DisconnectOptions) async throws {
        try await withCheckedThrowingContinuation { continuation in
            do {
                try disconnect(options) { _ in continuation.resume() }
            } catch {
                continuation.resume(throwing: error)
            }
        }
    }

    /// Publishes a value and waits for the acknowledgement.
    ///
    /// - Parameters:
    ///   - value: The value.
    ///   - topic: The topic name, taken as it is.
    ///   - qos: The quality of service; `.one` by default.
    ///   - retain: Whether the broker keeps it for later subscribers; `false` by default.
    /// - Returns: The broker's answer.
    /// - Throws: What ``publish(_:as:)`` throws.
    @discardableResult
    @inlinable
    public nonisolated(nonsending) func publish<Value>(
        _ value: Value, to topic: String, qos: QoS = .one, retain: Bool = false
    ) async throws -> PublishReceipt {
        try await publish(value, to: topic, qos: qos, retain: retain, properties: .empty)
    }

    /// Publishes a value and waits for the acknowledgement.
    ///
    /// - Parameters:
    ///   - value: The value.
    ///   - topic: The topic name, taken as it is.
    ///   - qos: The quality of service; `.one` by default.
    ///   - retain: Whether the broker keeps it for later subscribers; `false` by default.
    ///   - properties: The properties of MQTT 5.
    /// - Returns: The broker's answer.
    /// - Throws: What ``publish(_:as:)`` throws.
    @discardableResult
    public nonisolated(nonsending) func publish<Value>(
        _ value: Value,
        to topic: String,
        qos: QoS = .one,
        retain: Bool = false,
        properties: MessageProperties
    ) async throws -> PublishReceipt {
        try await publish(
            value,
            as: PublishRequest(
                topic: TopicTemplate(exactly: topic), qos: qos, isRetained: retain, properties: properties))
    }

    /// Publishes a value to a topic of its type and waits for the acknowledgement.
    ///
    /// - Parameters:
    ///   - value: The value.
    ///   - topic: The topic, all its parameters given, as in `notes(room: "7")`.
    ///   - qos: The quality of service; the topic's own by default.
    ///   - retain: Whether the broker keeps it for later subscribers; `false` by default.
    ///   - properties: The properties of MQTT 5; empty by default.
    /// - Returns: The broker's answer.
    /// - Throws: When the topic has a mistake or an open parameter, ``CourierError/Code-swift.struct/unresolvedPlaceholder``
    ///   when it holds `%u` or `%c` and no connection was begun yet that has one, when the value cannot be encoded,
    ///   accepted or delivered, or `CancellationError`.
    @discardableResult
    public nonisolated(nonsending) func publish<Value>(
        _ value: Value,
        to topic: Topic<Value>,
        qos: QoS? = nil,
        retain: Bool = false,
        properties: MessageProperties = MessageProperties()
    ) async throws -> PublishReceipt {
        try await publish(
            value,
            as: PublishRequest(
                topic: topic.template, qos: qos ?? topic.qos, isRetained: retain, properties: properties))
    }

    /// Hands a value over for delivery, and returns as soon as the message is safe: stored, where there is a message
    /// store.
    ///
    /// ```swift
    /// try await client.enqueue(order, to: "orders/7")  // Delivered from here on, with or without this process.
    /// ```
    ///
    /// - Parameters:
    ///   - value: The value.
    ///   - topic: The topic name, taken as it is.
    ///   - qos: The quality of service; `.one` by default.
    ///   - retain: Whether the broker keeps it for later subscribers; `false` by default.
    /// - Returns: The accepted message, which can be withdrawn until it is sent.
    /// - Throws: What ``enqueue(_:as:)`` throws.
    @discardableResult
    @inlinable
    public nonisolated(nonsending) func enqueue<Value>(
        _ value: Value, to topic: String, qos: QoS = .one, retain: Bool = false
    ) async throws -> EnqueuedMessage {
        try await enqueue(value, to: topic, qos: qos, retain: retain, properties: .empty)
    }

    /// Hands a value over for delivery, and returns as soon as the message is safe: stored, where there is a message
    /// store.
    ///
    /// ```swift
    /// try await client.enqueue(order, to: "orders/7")  // Delivered from here on, with or without this process.
    /// ```
    ///
    /// - Parameters:
    ///   - value: The value.
    ///   - topic: The topic name, taken as it is.
    ///   - qos: The quality of service; `.one` by default.
    ///   - retain: Whether the broker keeps it for later subscribers; `false` by default.
    ///   - properties: The properties of MQTT 5.
    /// - Returns: The accepted message, which can be withdrawn until it is sent.
    /// - Throws: What ``enqueue(_:as:)`` throws.
    @discardableResult
    public nonisolated(nonsending) func enqueue<Value>(
        _ value: Value,
        to topic: String,
        qos: QoS = .one,
        retain: Bool = false,
        properties: MessageProperties
    ) async throws -> EnqueuedMessage {
        try await enqueue(
            value,
            as: PublishRequest(
                topic: TopicTemplate(exactly: topic), qos: qos, isRetained: retain, properties: properties))
    }

    /// Hands a value over for delivery to a topic of its type, and returns as soon as the message is safe: stored, where
    /// there is a message store.
    ///
    /// - Parameters:
    ///   - value: The value.
    ///   - topic: The topic, all its parameters given, as in `notes(room: "7")`.
    ///   - qos: The quality of service; the topic's own by default.
    ///   - retain: Whether the broker keeps it for later subscribers; `false` by default.
    ///   - properties: The properties of MQTT 5; empty by default.
    /// - Returns: The accepted message, which can be withdrawn until it is sent.
    /// - Throws: When the topic has a mistake or an open parameter, ``CourierError/Code-swift.struct/unresolvedPlaceholder``
    ///   when it holds `%u` or `%c` and no connection was begun yet that has one, when the value cannot be encoded or
    ///   accepted, or `CancellationError`.
    @discardableResult
    public nonisolated(nonsending) func enqueue<Value>(
        _ value: Value,
        to topic: Topic<Value>,
        qos: QoS? = nil,
        retain: Bool = false,
        properties: MessageProperties = MessageProperties()
    ) async throws -> EnqueuedMessage {
        try await enqueue(
            value,
            as: PublishRequest(
                topic: topic.template, qos: qos ?? topic.qos, isRetained: retain, properties: properties))
    }

    /// The decoded messages of a topic filter: subscribes when a loop starts, unsubscribes when it is left.
    ///
    /// A running loop keeps the client alive and connected; ``messages(_:as:)`` says when it ends.
    ///
    /// - Parameters:
    ///   - type: The type to decode; `Message` gives messages as they came.
    ///   - filter: The topic name or filter, taken as it is. One that is not legal, or that the broker refuses, ends
    ///     the loop with an error.
    ///   - qos: The highest quality of service; `.one` by default.
    ///   - acknowledge: When messages of QoS 1 and 2 are acknowledged; as soon as they are here by default.
    ///   - buffer: How many messages may wait for the loop; 16,384 by default.
    /// - Returns: A sequence in which each loop is a reader of its own.
    public func messages<Value: Sendable>(
        _ type: Value.Type,
        from filter: String,
        qos: QoS = .one,
        acknowledge: AcknowledgementMode = .onReceipt,
        buffer: ReadBuffer = ReadBuffer()
    ) -> MessageSequence<Value> {
        messages(
            type,
            as: SubscriptionRequest(
                topic: TopicTemplate(exactly: filter), qos: qos, acknowledge: acknowledge, buffer: buffer))
    }

    /// The messages of a topic: subscribes when a loop starts, unsubscribes when it is left.
    ///
    /// A running loop keeps the client alive and connected; ``messages(_:as:)`` says when it ends.
    ///
    /// - Parameters:
    ///   - topic: The topic; open parameters match any level.
    ///   - qos: The highest quality of service; the topic's own by default.
    ///   - acknowledge: When messages of QoS 1 and 2 are acknowledged; as soon as they are here by default.
    ///   - buffer: How many messages may wait for the loop; 16,384 by default.
    /// - Returns: A sequence in which each loop is a reader of its own.
    public func messages<Value: Sendable>(
        from topic: Topic<Value>,
        qos: QoS? = nil,
        acknowledge: AcknowledgementMode = .onReceipt,
        buffer: ReadBuffer = ReadBuffer()
    ) -> MessageSequence<Value> {
        messages(
            Value.self,
            as: SubscriptionRequest(
                topic: topic.template, qos: qos ?? topic.qos, acknowledge: acknowledge, buffer: buffer))
    }

    /// The messages of a topic with their values, to learn the parameters of a topic that has open ones.
    ///
    /// ```swift
    /// for try await note in client.messages(Received<Note>.self, from: notes) {
    ///     let room = try notes.arguments(in: TopicName(note.topic))?["room"]
    /// }
    /// ```
    ///
    /// - Parameters:
    ///   - type: ``Received`` of the topic's type.
    ///   - topic: The topic; open parameters match any level.
    ///   - qos: The highest quality of service; the topic's own by default.
    ///   - acknowledge: When messages of QoS 1 and 2 are acknowledged; as soon as they are here by default.
    ///   - buffer: How many messages may wait for the loop; 16,384 by default.
    /// - Returns: A sequence in which each loop is a reader of its own.
    public func messages<Value>(
        _ type: Received<Value>.Type,
        from topic: Topic<Value>,
        qos: QoS? = nil,
        acknowledge: AcknowledgementMode = .onReceipt,
        buffer: ReadBuffer = ReadBuffer()
    ) -> MessageSequence<Received<Value>> {
        messages(
            type,
            as: SubscriptionRequest(
                topic: topic.template, qos: qos ?? topic.qos, acknowledge: acknowledge, buffer: buffer))
    }

    /// Subscribes to a topic filter, and waits for the broker's answer.
    ///
    /// - Parameters:
    ///   - filter: The topic filter.
    ///   - qos: The highest quality of service; `.one` by default.
    /// - Returns: The quality of service that the broker granted.
    /// - Throws: ``CourierError/Code-swift.struct/invalidTopicFilter``,
    ///   ``CourierError/Code-swift.struct/queueFull`` when too many filters are known or too many calls wait,
    ///   ``CourierError/Code-swift.struct/subscriptionRefused`` or ``CourierError/Code-swift.struct/notAuthorized``
    ///   when the broker refuses, ``CourierError/Code-swift.struct/clientDestroyed`` when the client is destroyed
    ///   before, or `CancellationError`.
    @discardableResult
    public func subscribe(to filter: String, qos: QoS = .one) async throws -> QoS {
        try await subscribe(SubscriptionRequest(topic: TopicTemplate(exactly: filter), qos: qos))
    }

    /// Subscribes to a topic, and waits for the broker's answer.
    ///
    /// - Parameters:
    ///   - topic: The topic; open parameters match any level.
    ///   - qos: The highest quality of service; the topic's own by default.
    /// - Returns: The quality of service that the broker granted.
    /// - Throws: What the form with a ``SubscriptionRequest`` throws,
    ///   ``CourierError/Code-swift.struct/unresolvedPlaceholder`` among it.
    @discardableResult
    public func subscribe<Value>(to topic: Topic<Value>, qos: QoS? = nil) async throws -> QoS {
        try await subscribe(SubscriptionRequest(topic: topic.template, qos: qos ?? topic.qos))
    }

    /// Unsubscribes from a topic filter, and waits until the broker has confirmed it.
    ///
    /// A loop that reads the filter continues, and then nothing is waited for, as ``unsubscribe(_:)-(UnsubscriptionRequest)``
    /// says.
    ///
    /// - Parameter filter: The filter as it was subscribed, taken as it is.
    /// - Throws: What ``unsubscribe(_:)-(UnsubscriptionRequest)`` throws.
    public func unsubscribe(from filter: String) async throws {
        try await unsubscribe(UnsubscriptionRequest(topic: TopicTemplate(exactly: filter)))
    }

    /// Wants no more messages of a topic whose type of values is not known, and waits until the broker has confirmed it.
    ///
    /// - Parameter topic: The filter as it was subscribed.
    /// - Throws: What ``unsubscribe(_:)-(UnsubscriptionRequest)`` throws.
    public func unsubscribe(from topic: TopicTemplate) async throws {
        try await unsubscribe(UnsubscriptionRequest(topic: topic))
    }

    /// Wants no more messages of a topic, and waits until the broker has confirmed it.
    ///
    /// A loop that reads the topic continues, and then nothing is waited for, as ``unsubscribe(_:)-(UnsubscriptionRequest)``
    /// says.
    ///
    /// - Parameter topic: The topic as it was subscribed, with the same parameters open.
    /// - Throws: What ``unsubscribe(_:)-(UnsubscriptionRequest)`` throws,
    ///   ``CourierError/Code-swift.struct/unresolvedPlaceholder`` among it.
    public func unsubscribe<Value>(from topic: Topic<Value>) async throws {
        try await unsubscribe(UnsubscriptionRequest(topic: topic.template))
    }

    /// Sends a request to a topic and waits for the response (MQTT 5).
    ///
    /// ```swift
    /// let latest = try await client.request("7", to: "rooms/7/latest", as: Note.self)
    /// ```
    ///
    /// - Parameters:
    ///   - request: The request.
    ///   - topic: The topic of the responder, taken as it is.
    ///   - timeout: How long the call takes at most, with waiting for a connection; 10 s by default.
    ///   - type: The type of the response; the type of the result by default.
    /// - Returns: The first response.
    /// - Throws: What ``request(_:at:timeout:as:)`` throws.
    public func request<Request, Response: Sendable>(
        _ request: Request, to topic: String, timeout: Duration = .seconds(10), as type: Response.Type = Response.self
    ) async throws -> Response {
        try await self.request(request, at: TopicTemplate(exactly: topic), timeout: timeout, as: type)
    }

    /// Unavailable: the type of the response is missing. The compiler shows the remedy.
    ///
    /// - Parameters:
    ///   - request: The request.
    ///   - topic: The topic of the responder.
    ///   - timeout: How long the call takes at most.
    /// - Throws: Nothing; it cannot be called.
    @available(
        *, unavailable, message: "say which type the response has, as in request(request, to: topic, as: Note.self)"
    )
    public func request<Request>(
        _ request: Request, to topic: String, timeout: Duration = .seconds(10)
    ) async throws {}

    /// Sends a request to a topic of its type and waits for the response (MQTT 5).
    ///
    /// ```swift
    /// let latest = try await client.request("7", to: latestNotes(room: "7"), as: Note.self)
    /// ```
    ///
    /// The request has QoS 1, whatever ``Topic/qos`` says, because its acknowledgement reports a topic without a subscriber.
    ///
    /// - Parameters:
    ///   - request: The request.
    ///   - topic: The topic of the responder, with a value for each parameter. With `%u` or `%c`, await ``connected()`` first.
    ///   - timeout: How long the call takes at most, with waiting for a connection; 10 s by default.
    ///   - type: The type of the response.
    /// - Returns: The first response.
    /// - Throws: What ``request(_:at:timeout:as:)`` throws.
    public func request<Request, Response: Sendable>(
        _ request: Request, to topic: Topic<Request>, timeout: Duration = .seconds(10),
        as type: Response.Type = Response.self
    ) async throws -> Response {
        try await self.request(request, at: topic.template, timeout: timeout, as: type)
    }

    /// Unavailable: the type of the response is missing. The compiler shows the remedy.
    ///
    /// - Parameters:
    ///   - request: The request.
    ///   - topic: The topic of the responder.
    ///   - timeout: How long the call takes at most.
    /// - Throws: Nothing; it cannot be called.
    @available(
        *, unavailable, message: "say which type the response has, as in request(request, to: topic, as: Note.self)"
    )
    public func request<Request>(
        _ request: Request, to topic: Topic<Request>, timeout: Duration = .seconds(10)
    ) async throws {}

    /// Responds to requests until the task is cancelled (MQTT 5 only).
    ///
    /// - Parameters:
    ///   - filter: The topic name or filter of the requests, taken as it is.
    ///   - qos: The quality of service of requests and responses; `.one` by default.
    ///   - handler: Makes the response.
    /// - Throws: What ``respond(at:qos:handler:)`` throws.
    public func respond<Request: Sendable, Response>(
        to filter: String, qos: QoS = .one, handler: @escaping @Sendable (Request) async throws -> Response
    ) async throws {
        try await respond(at: TopicTemplate(exactly: filter), qos: qos, handler: handler)
    }

    /// Responds to requests of a topic's type until the task is cancelled (MQTT 5 only).
    ///
    /// - Parameters:
    ///   - topic: The topic of the requests; open parameters match any level.
    ///   - qos: The quality of service of requests and responses; the topic's own by default.
    ///   - handler: Makes the response.
    /// - Throws: What ``respond(at:qos:handler:)`` throws.
    public func respond<Request: Sendable, Response>(
        to topic: Topic<Request>, qos: QoS? = nil, handler: @escaping @Sendable (Request) async throws -> Response
    ) async throws {
        try await respond(at: topic.template, qos: qos ?? topic.qos, handler: handler)
    }
}
