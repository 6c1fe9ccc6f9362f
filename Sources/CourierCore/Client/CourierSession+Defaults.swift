extension CourierSession {
    /// Wants a connection from now on; the same as `connect(source: "app")`.
    public func connect() { connect(source: "app") }

    /// Hands the topics over as an array.
    ///
    /// - Parameter topics: Topic filters, each with the highest quality of service for its messages.
    public func subscribe(_ topics: (topic: String, qos: QoS)...) { subscribe(topics) }

    /// Hands the bytes over as an array.
    ///
    /// - Parameters:
    ///   - span: The payload.
    ///   - topic: The topic name.
    ///   - qos: The quality of service.
    ///   - retain: Whether the broker keeps it for those who subscribe later.
    ///   - properties: The properties of MQTT 5.
    ///   - completion: Told once how it ended; `nil` when nobody wants to know.
    /// - Throws: What the form with an array throws.
    public func publish(
        span: RawSpan, to topic: String, qos: QoS, retain: Bool, properties: MessageProperties,
        completion: (@Sendable (Result<PublishReceipt, CourierError>) -> Void)?
    ) throws {
        try publish(
            bytes: span.withUnsafeBytes { [UInt8]($0) }, to: topic, qos: qos, retain: retain, properties: properties,
            completion: completion)
    }

    /// Asks on the topic name, where that needs no connection to be known.
    ///
    /// - Parameters:
    ///   - question: The question.
    ///   - topic: Where somebody answers, all its parameters given.
    ///   - timeout: How long the call takes at most.
    ///   - type: The type of the answer.
    /// - Returns: The first answer.
    /// - Throws: What is wrong with the topic, ``CourierError/Code-swift.struct/unresolvedPlaceholder`` for `%u` and `%c`,
    ///   or what the form with a topic name throws.
    public func request<Question, Answer: Sendable>(
        _ question: Question, at topic: TopicTemplate, timeout: Duration, as type: Answer.Type
    ) async throws -> Answer {
        try await request(question, to: topic.name(for: nil).string, timeout: timeout, as: type)
    }

    /// Answers on the topic filter, where that needs no connection to be known.
    ///
    /// - Parameters:
    ///   - topic: The topic on which questions come.
    ///   - qos: The quality of service of questions and answers.
    ///   - handler: Makes the answer.
    /// - Throws: What is wrong with the topic, ``CourierError/Code-swift.struct/unresolvedPlaceholder`` for `%u` and `%c`,
    ///   or what the form with a filter throws.
    public func respond<Question: Sendable, Answer>(
        at topic: TopicTemplate, qos: QoS, handler: @escaping @Sendable (Question) async throws -> Answer
    ) async throws {
        try await respond(to: topic.filter(for: nil).string, qos: qos, handler: handler)
    }

    /// Hands the topics over as an array.
    ///
    /// - Parameter topics: Topic filters as they were subscribed.
    public func unsubscribe(_ topics: String...) { unsubscribe(topics) }

    /// Unsubscribes without properties. A session that does not implement this method cannot send properties.
    ///
    /// - Parameter request: The filter as it was subscribed.
    /// - Throws: What the form with a ``TopicTemplate`` throws.
    public func unsubscribe(_ request: UnsubscriptionRequest) async throws {
        try await unsubscribe(from: request.topic)
    }

    /// Returns `nil`, because a session that does not implement this property has no CONNACK.
    public var responseInformation: String? { nil }

    /// Ends the connection with options for the DISCONNECT packet (MQTT 5), and returns before it has ended.
    ///
    /// - Parameter options: What DISCONNECT tells the broker.
    /// - Throws: What ``disconnect(_:completion:)`` throws; the connection stays then.
    public func disconnect(_ options: DisconnectOptions) throws { try disconnect(options) { _ in } }

    /// Disconnects without options. A session that does not implement this method cannot send options.
    ///
    /// - Parameters:
    ///   - options: What DISCONNECT tells the broker.
    ///   - completion: Called once when there is no connection any more.
    /// - Throws: Nothing.
    public func disconnect(
        _ options: DisconnectOptions, completion: @escaping @Sendable (Result<Void, CourierError>) -> Void
    ) throws {
        disconnect(completion: completion)
    }
}
