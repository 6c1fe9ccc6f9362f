extension CourierSession {
    /// The connection's state as a sequence: the present one first, then every change.
    ///
    /// Each loop has a buffer of its own, of ``BufferPolicy/values``: a reader that is slower loses the oldest
    /// states, never the last.
    public var states: PublisherValues<ConnectionState, Never> { connectionStatePublisher.values }

    /// Publishes a value and waits for the acknowledgement.
    ///
    /// - Parameters:
    ///   - value: The value.
    ///   - topic: The topic name, taken as it is.
    ///   - qos: The quality of service; `.one` by default.
    ///   - retain: Whether the broker keeps it for those who subscribe later; `false` by default.
    ///   - properties: The properties of MQTT 5; empty by default.
    /// - Returns: The broker's word on it.
    /// - Throws: When it can not be encoded, accepted or delivered, or `CancellationError`.
    @discardableResult
    public nonisolated(nonsending) func publish<Value>(
        _ value: Value,
        to topic: String,
        qos: QoS = .one,
        retain: Bool = false,
        properties: MessageProperties = MessageProperties()
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
    ///   - retain: Whether the broker keeps it for those who subscribe later; `false` by default.
    ///   - properties: The properties of MQTT 5; empty by default.
    /// - Returns: The broker's word on it.
    /// - Throws: When the topic has a mistake or an open parameter, or the value can not be encoded, accepted or
    ///   delivered, or `CancellationError`.
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

    /// The decoded messages of a topic filter: subscribes when a loop starts, unsubscribes when it is left.
    ///
    /// - Parameters:
    ///   - type: The type to decode.
    ///   - filter: The topic name or filter, taken as it is. One that is not legal ends the loop with an error.
    ///   - qos: The highest quality of service; `.one` by default.
    /// - Returns: A sequence in which each loop is a reader of its own.
    public func messages<Value: Sendable>(
        _ type: Value.Type, from filter: String, qos: QoS = .one
    ) -> MessageSequence<Value> {
        messages(type, as: SubscriptionRequest(topic: TopicTemplate(exactly: filter), qos: qos))
    }

    /// The messages of a topic: subscribes when a loop starts, unsubscribes when it is left.
    ///
    /// - Parameters:
    ///   - topic: The topic; open parameters stand for any level.
    ///   - qos: The highest quality of service; the topic's own by default.
    /// - Returns: A sequence in which each loop is a reader of its own.
    public func messages<Value: Sendable>(from topic: Topic<Value>, qos: QoS? = nil) -> MessageSequence<Value> {
        messages(Value.self, as: SubscriptionRequest(topic: topic.template, qos: qos ?? topic.qos))
    }
}
