extension CourierSession {
    /// Handles the messages of a topic filter until the processor is stopped.
    ///
    /// ```swift
    /// let orders = try client.process(Order.self, from: "orders/#") { order, context in
    ///     try await payments.charge(order)  // If this throws, another attempt follows after a pause.
    /// }
    /// ```
    ///
    /// ``process(_:as:name:policy:handler:)`` describes retries, parked messages and the message store.
    ///
    /// - Parameters:
    ///   - type: The type to decode; `Message` returns messages without decoding.
    ///   - filter: The topic name or filter, used unchanged.
    ///   - qos: The highest quality of service; `.one` by default.
    ///   - name: The name of the processor; the filter by default. The next process finds stored messages by this name.
    ///   - policy: The number of handlers at once, the order of messages, the retries, and the limits.
    ///   - handler: Handles one message.
    /// - Returns: The processor, which has started.
    /// - Throws: The errors of ``process(_:as:name:policy:handler:)``.
    public func process<Value: Sendable>(
        _ type: Value.Type, from filter: String, qos: QoS = .one, name: String? = nil,
        policy: ProcessingPolicy<Value> = ProcessingPolicy(),
        handler: @escaping @Sendable (Value, ProcessingContext) async throws -> Void
    ) throws -> any MessageProcessor {
        let request = SubscriptionRequest(topic: TopicTemplate(exactly: filter), qos: qos)
        return try process(type, as: request, name: name, policy: policy, handler: handler)
    }

    /// Handles the messages of a topic until the processor is stopped.
    ///
    /// - Parameters:
    ///   - topic: The topic. A parameter without a value matches any level.
    ///   - qos: The highest quality of service; the topic's own by default.
    ///   - name: The name of the processor; the topic filter by default.
    ///   - policy: The number of handlers at once, the order of messages, the retries, and the limits.
    ///   - handler: Handles one message.
    /// - Returns: The processor, which has started.
    /// - Throws: The errors of ``process(_:as:name:policy:handler:)``.
    public func process<Value: Sendable>(
        from topic: Topic<Value>, qos: QoS? = nil, name: String? = nil,
        policy: ProcessingPolicy<Value> = ProcessingPolicy(),
        handler: @escaping @Sendable (Value, ProcessingContext) async throws -> Void
    ) throws -> any MessageProcessor {
        let request = SubscriptionRequest(topic: topic.template, qos: qos ?? topic.qos)
        return try process(Value.self, as: request, name: name, policy: policy, handler: handler)
    }
}
