extension CourierSession {
    /// The connection's state as a sequence: the current state first, then every change.
    ///
    /// Each loop has its own buffer, with the limits of ``BufferPolicy/values``. If a loop is too slow, the buffer
    /// drops the oldest states, but the loop always receives the last state.
    public var states: PublisherValues<ConnectionState, Never> { connectionStatePublisher.values }

    /// The connection's status as a sequence: the current status first, then every change.
    ///
    /// Each loop has its own buffer, with the limits of ``BufferPolicy/values``. If a loop is too slow, the buffer
    /// drops the oldest statuses, but the loop always receives the last status.
    public var statuses: PublisherValues<ConnectionStatus, Never> { connectionStatusPublisher.values }

    /// The messages that a reader could not use, as a sequence. A loop receives the messages that arrive after it has
    /// started.
    ///
    /// Each loop has its own buffer, with the limits of ``BufferPolicy/values``.
    public var deadLetters: PublisherValues<DeadLetter, Never> { deadLetterPublisher.values }

    /// Waits until the connection is established, as ``connected(timeout:)`` does, without a time limit.
    ///
    /// - Throws: The errors of ``connected(timeout:)``.
    public nonisolated(nonsending) func connected() async throws { try await connected(timeout: nil) }

    /// Ends the connection, and returns when it has ended. Returns at once if there is no connection.
    ///
    /// ```swift
    /// await client.disconnectAndWait()
    /// exit(0)  // The broker has received DISCONNECT, and publishes no will.
    /// ```
    ///
    /// Pending messages are sent, or kept for the next `connect()`, as ``disconnect(completion:)`` describes. The
    /// disconnect begins before this call suspends. The call resumes through the client's delivery queue, so the app
    /// must not block that queue. This call does not report whether the connection was closed normally;
    /// ``disconnect(completion:)`` reports it. If the task is cancelled, the disconnect and the wait continue; the wait
    /// ends within seconds.
    public nonisolated(nonsending) func disconnectAndWait() async {
        await withCheckedContinuation { continuation in
            disconnect { _ in continuation.resume() }
        }
    }

    /// Ends the connection with options for the DISCONNECT packet (MQTT 5), and returns when it has ended. Returns at
    /// once if there is no connection.
    ///
    /// ```swift
    /// try await client.disconnectAndWait(DisconnectOptions(sessionExpiry: .zero))  // The broker forgets the session.
    /// ```
    ///
    /// In all other respects, the method works like ``disconnectAndWait()``.
    ///
    /// - Parameter options: The fields of DISCONNECT.
    /// - Throws: The errors of ``disconnect(_:completion:)``. The connection then stays open.
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
    ///   - topic: The topic name, used unchanged.
    ///   - qos: The quality of service; `.one` by default.
    ///   - retain: Whether the broker keeps the message for later subscribers; `false` by default.
    /// - Returns: The broker's acknowledgement.
    /// - Throws: The errors of ``publish(_:as:)``.
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
    ///   - topic: The topic name, used unchanged.
    ///   - qos: The quality of service; `.one` by default.
    ///   - retain: Whether the broker keeps the message for later subscribers; `false` by default.
    ///   - properties: The properties of MQTT 5.
    /// - Returns: The broker's acknowledgement.
    /// - Throws: The errors of ``publish(_:as:)``.
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
    ///   - topic: The topic with a value for each parameter, as in `notes(room: "7")`.
    ///   - qos: The quality of service; the topic's own by default.
    ///   - retain: Whether the broker keeps the message for later subscribers; `false` by default.
    ///   - properties: The properties of MQTT 5; empty by default.
    /// - Returns: The broker's acknowledgement.
    /// - Throws: An error if the topic is not legal or a parameter has no value, or if the value cannot be encoded,
    ///   accepted or delivered. ``CourierError/Code-swift.struct/unresolvedPlaceholder`` if the topic contains `%u` or
    ///   `%c` and the client does not know its user name or client id yet. `CancellationError` if the task is
    ///   cancelled.
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

    /// Accepts a value for delivery, and returns when the message is stored. Without a message store, returns when the
    /// client has accepted the message.
    ///
    /// ```swift
    /// try await client.enqueue(order, to: "orders/7")  // With a store, delivered even if this process ends.
    /// ```
    ///
    /// - Parameters:
    ///   - value: The value.
    ///   - topic: The topic name, used unchanged.
    ///   - qos: The quality of service; `.one` by default.
    ///   - retain: Whether the broker keeps the message for later subscribers; `false` by default.
    /// - Returns: The accepted message, which can be withdrawn until it is sent.
    /// - Throws: The errors of ``enqueue(_:as:)``.
    @discardableResult
    @inlinable
    public nonisolated(nonsending) func enqueue<Value>(
        _ value: Value, to topic: String, qos: QoS = .one, retain: Bool = false
    ) async throws -> EnqueuedMessage {
        try await enqueue(value, to: topic, qos: qos, retain: retain, properties: .empty)
    }

    /// Accepts a value for delivery, and returns when the message is stored. Without a message store, returns when the
    /// client has accepted the message.
    ///
    /// ```swift
    /// try await client.enqueue(order, to: "orders/7")  // With a store, delivered even if this process ends.
    /// ```
    ///
    /// - Parameters:
    ///   - value: The value.
    ///   - topic: The topic name, used unchanged.
    ///   - qos: The quality of service; `.one` by default.
    ///   - retain: Whether the broker keeps the message for later subscribers; `false` by default.
    ///   - properties: The properties of MQTT 5.
    /// - Returns: The accepted message, which can be withdrawn until it is sent.
    /// - Throws: The errors of ``enqueue(_:as:)``.
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

    /// Accepts a value for delivery to a topic of its type, and returns when the message is stored. Without a message
    /// store, returns when the client has accepted the message.
    ///
    /// - Parameters:
    ///   - value: The value.
    ///   - topic: The topic with a value for each parameter, as in `notes(room: "7")`.
    ///   - qos: The quality of service; the topic's own by default.
    ///   - retain: Whether the broker keeps the message for later subscribers; `false` by default.
    ///   - properties: The properties of MQTT 5; empty by default.
    /// - Returns: The accepted message, which can be withdrawn until it is sent.
    /// - Throws: An error if the topic is not legal or a parameter has no value, or if the value cannot be encoded or
    ///   accepted. ``CourierError/Code-swift.struct/unresolvedPlaceholder`` if the topic contains `%u` or `%c` and the
    ///   client does not know its user name or client id yet. `CancellationError` if the task is cancelled.
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

    /// Returns the decoded messages of a topic filter. Each loop subscribes when it starts, and unsubscribes when it is
    /// left.
    ///
    /// A running loop keeps the client alive and connected. ``messages(_:as:)`` describes when a loop ends.
    ///
    /// - Parameters:
    ///   - type: The type to decode; `Message` returns messages without decoding.
    ///   - filter: The topic name or filter, used unchanged. If it is not legal, or if the broker refuses it, the loop
    ///     ends with an error.
    ///   - qos: The highest quality of service; `.one` by default.
    ///   - acknowledge: The mode of acknowledging messages of QoS 1 and 2; on receipt by default.
    ///   - buffer: The limit of messages that wait for the loop; 16,384 by default.
    /// - Returns: A sequence. Each loop over it is a separate reader.
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

    /// Returns the messages of a topic. Each loop subscribes when it starts, and unsubscribes when it is left.
    ///
    /// A running loop keeps the client alive and connected. ``messages(_:as:)`` describes when a loop ends.
    ///
    /// - Parameters:
    ///   - topic: The topic. A parameter without a value matches any level.
    ///   - qos: The highest quality of service; the topic's own by default.
    ///   - acknowledge: The mode of acknowledging messages of QoS 1 and 2; on receipt by default.
    ///   - buffer: The limit of messages that wait for the loop; 16,384 by default.
    /// - Returns: A sequence. Each loop over it is a separate reader.
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

    /// Returns the messages of a topic with their decoded values, for example to read the parameters of the topic.
    ///
    /// ```swift
    /// for try await note in client.messages(Received<Note>.self, from: notes) {
    ///     let room = try notes.arguments(in: TopicName(note.topic))?["room"]
    /// }
    /// ```
    ///
    /// - Parameters:
    ///   - type: ``Received`` of the topic's type.
    ///   - topic: The topic. A parameter without a value matches any level.
    ///   - qos: The highest quality of service; the topic's own by default.
    ///   - acknowledge: The mode of acknowledging messages of QoS 1 and 2; on receipt by default.
    ///   - buffer: The limit of messages that wait for the loop; 16,384 by default.
    /// - Returns: A sequence. Each loop over it is a separate reader.
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

    /// Subscribes to a topic filter, and waits until the broker grants or refuses the subscription.
    ///
    /// - Parameters:
    ///   - filter: The topic filter.
    ///   - qos: The highest quality of service; `.one` by default.
    /// - Returns: The quality of service that the broker granted.
    /// - Throws: ``CourierError/Code-swift.struct/invalidTopicFilter`` if the filter is not legal, or
    ///   `CancellationError`.
    ///   - ``CourierError/Code-swift.struct/queueFull`` if there are too many filters or waiting calls.
    ///   - ``CourierError/Code-swift.struct/subscriptionRefused`` or ``CourierError/Code-swift.struct/notAuthorized``
    ///     if the broker refuses the filter.
    ///   - ``CourierError/Code-swift.struct/clientDestroyed`` if the client is destroyed before the broker answers.
    @discardableResult
    public func subscribe(to filter: String, qos: QoS = .one) async throws -> QoS {
        try await subscribe(SubscriptionRequest(topic: TopicTemplate(exactly: filter), qos: qos))
    }

    /// Subscribes to a topic, and waits until the broker grants or refuses the subscription.
    ///
    /// - Parameters:
    ///   - topic: The topic. A parameter without a value matches any level.
    ///   - qos: The highest quality of service; the topic's own by default.
    /// - Returns: The quality of service that the broker granted.
    /// - Throws: The errors of ``subscribe(_:)-(SubscriptionRequest)``, including
    ///   ``CourierError/Code-swift.struct/unresolvedPlaceholder``.
    @discardableResult
    public func subscribe<Value>(to topic: Topic<Value>, qos: QoS? = nil) async throws -> QoS {
        try await subscribe(SubscriptionRequest(topic: topic.template, qos: qos ?? topic.qos))
    }

    /// Unsubscribes from a topic filter, and waits until the broker has confirmed the unsubscription.
    ///
    /// If a loop reads the filter, the loop continues, and the call returns at once; see
    /// ``unsubscribe(_:)-(UnsubscriptionRequest)``.
    ///
    /// - Parameter filter: The subscribed filter, used unchanged.
    /// - Throws: The errors of ``unsubscribe(_:)-(UnsubscriptionRequest)``.
    public func unsubscribe(from filter: String) async throws {
        try await unsubscribe(UnsubscriptionRequest(topic: TopicTemplate(exactly: filter)))
    }

    /// Unsubscribes from the filter of a topic template, and waits until the broker has confirmed the unsubscription.
    ///
    /// - Parameter topic: The template of the subscribed filter.
    /// - Throws: The errors of ``unsubscribe(_:)-(UnsubscriptionRequest)``.
    public func unsubscribe(from topic: TopicTemplate) async throws {
        try await unsubscribe(UnsubscriptionRequest(topic: topic))
    }

    /// Unsubscribes from a topic, and waits until the broker has confirmed the unsubscription.
    ///
    /// If a loop reads the topic, the loop continues, and the call returns at once; see
    /// ``unsubscribe(_:)-(UnsubscriptionRequest)``.
    ///
    /// - Parameter topic: The subscribed topic, with values for the same parameters.
    /// - Throws: The errors of ``unsubscribe(_:)-(UnsubscriptionRequest)``, including
    ///   ``CourierError/Code-swift.struct/unresolvedPlaceholder``.
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
    ///   - topic: The topic of the responder, used unchanged.
    ///   - timeout: The maximum time of the call, including the wait for a connection; 10 s by default.
    ///   - type: The type of the response; the type of the result by default.
    /// - Returns: The first response.
    /// - Throws: The errors of ``request(_:at:timeout:as:)``.
    public func request<Request, Response: Sendable>(
        _ request: Request, to topic: String, timeout: Duration = .seconds(10), as type: Response.Type = Response.self
    ) async throws -> Response {
        try await self.request(request, at: TopicTemplate(exactly: topic), timeout: timeout, as: type)
    }

    /// This method cannot be called, because the call does not name the type of the response. The compiler's error
    /// shows a correct call.
    ///
    /// - Parameters:
    ///   - request: The request.
    ///   - topic: The topic of the responder.
    ///   - timeout: The maximum time of the call.
    /// - Throws: Nothing, because this method cannot be called.
    @available(
        *, unavailable, message: "name the type of the response, as in request(request, to: topic, as: Note.self)"
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
    /// The request always has QoS 1 and ignores ``Topic/qos``. With QoS 1, the broker's acknowledgement reports if the
    /// topic has no subscriber.
    ///
    /// - Parameters:
    ///   - request: The request.
    ///   - topic: The topic of the responder, with a value for each parameter. If the topic contains `%u` or `%c`,
    ///     await ``connected()`` first.
    ///   - timeout: The maximum time of the call, including the wait for a connection; 10 s by default.
    ///   - type: The type of the response.
    /// - Returns: The first response.
    /// - Throws: The errors of ``request(_:at:timeout:as:)``.
    public func request<Request, Response: Sendable>(
        _ request: Request, to topic: Topic<Request>, timeout: Duration = .seconds(10),
        as type: Response.Type = Response.self
    ) async throws -> Response {
        try await self.request(request, at: topic.template, timeout: timeout, as: type)
    }

    /// This method cannot be called, because the call does not name the type of the response. The compiler's error
    /// shows a correct call.
    ///
    /// - Parameters:
    ///   - request: The request.
    ///   - topic: The topic of the responder.
    ///   - timeout: The maximum time of the call.
    /// - Throws: Nothing, because this method cannot be called.
    @available(
        *, unavailable, message: "name the type of the response, as in request(request, to: topic, as: Note.self)"
    )
    public func request<Request>(
        _ request: Request, to topic: Topic<Request>, timeout: Duration = .seconds(10)
    ) async throws {}

    /// Responds to requests until the task is cancelled (MQTT 5 only).
    ///
    /// - Parameters:
    ///   - filter: The topic name or filter of the requests, used unchanged.
    ///   - qos: The quality of service of requests and responses; `.one` by default.
    ///   - handler: Makes the response.
    /// - Throws: The errors of ``respond(at:qos:handler:)``.
    public func respond<Request: Sendable, Response>(
        to filter: String, qos: QoS = .one, handler: @escaping @Sendable (Request) async throws -> Response
    ) async throws {
        try await respond(at: TopicTemplate(exactly: filter), qos: qos, handler: handler)
    }

    /// Responds to requests of a topic's type until the task is cancelled (MQTT 5 only).
    ///
    /// - Parameters:
    ///   - topic: The topic of the requests. A parameter without a value matches any level.
    ///   - qos: The quality of service of requests and responses; the topic's own by default.
    ///   - handler: Makes the response.
    /// - Throws: The errors of ``respond(at:qos:handler:)``.
    public func respond<Request: Sendable, Response>(
        to topic: Topic<Request>, qos: QoS? = nil, handler: @escaping @Sendable (Request) async throws -> Response
    ) async throws {
        try await respond(at: topic.template, qos: qos ?? topic.qos, handler: handler)
    }
}
