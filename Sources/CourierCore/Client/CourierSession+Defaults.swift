extension CourierSession {
    /// Connects; the same as `connect(source: "app")`.
    public func connect() { connect(source: "app") }

    /// Subscribes to these topic filters, with the method that takes an array.
    ///
    /// - Parameter topics: Topic filters, each with the highest quality of service for its messages.
    public func subscribe(_ topics: (topic: String, qos: QoS)...) { subscribe(topics) }

    /// Copies the bytes to an array, and publishes them with the method that takes an array.
    ///
    /// - Parameters:
    ///   - span: The payload.
    ///   - topic: The topic name.
    ///   - qos: The quality of service.
    ///   - retain: Whether the broker keeps the message for later subscribers.
    ///   - properties: The properties of MQTT 5.
    ///   - completion: Called once with the result; `nil` if the app needs no result.
    /// - Throws: The errors of the method that takes an array.
    public func publish(
        span: RawSpan, to topic: String, qos: QoS, retain: Bool, properties: MessageProperties,
        completion: (@Sendable (Result<PublishReceipt, CourierError>) -> Void)?
    ) throws {
        try publish(
            bytes: span.withUnsafeBytes { [UInt8]($0) }, to: topic, qos: qos, retain: retain, properties: properties,
            completion: completion)
    }

    /// Unsubscribes from these topic filters, with the method that takes an array.
    ///
    /// - Parameter topics: The subscribed topic filters.
    public func unsubscribe(_ topics: String...) { unsubscribe(topics) }

    /// Returns `nil`, because a session that does not implement this property cannot know the broker's response
    /// information.
    public var responseInformation: String? { nil }

    /// Ends the connection with options for the DISCONNECT packet (MQTT 5), and returns before the connection has
    /// ended.
    ///
    /// - Parameter options: The fields of DISCONNECT.
    /// - Throws: The errors of ``disconnect(_:completion:)``. The connection then stays open.
    public func disconnect(_ options: DisconnectOptions) throws { try disconnect(options) { _ in } }

    /// Disconnects without the options, because a session that does not implement this method cannot send them.
    ///
    /// - Parameters:
    ///   - options: The fields of DISCONNECT.
    ///   - completion: Called once when the connection has ended.
    /// - Throws: Nothing.
    public func disconnect(
        _ options: DisconnectOptions, completion: @escaping @Sendable (Result<Void, CourierError>) -> Void
    ) throws {
        disconnect(completion: completion)
    }
}

extension CourierSession {
    private static var noProcessing: CourierError {
        CourierError(
            .invalidConfiguration,
            "This implementation of CourierSession has no processors. Use a client of CourierClientFactory.")
    }

    /// Throws an error, because a session that does not implement this method has no processors.
    ///
    /// - Parameters:
    ///   - type: The type to decode.
    ///   - request: The topic filter and the options of the subscription.
    ///   - name: The name of the processor.
    ///   - policy: The rules for handling messages: concurrency, order, retries and limits.
    ///   - handler: Handles one message.
    /// - Returns: Nothing.
    /// - Throws: ``CourierError/Code-swift.struct/invalidConfiguration``.
    public func process<Value: Sendable>(
        _ type: Value.Type, as request: SubscriptionRequest, name: String?, policy: ProcessingPolicy<Value>,
        handler: @escaping @Sendable (Value, ProcessingContext) async throws -> Void
    ) throws -> any MessageProcessor {
        throw Self.noProcessing
    }

    /// An empty list, because a session that does not implement this property parks no messages.
    public var parked: any ParkedMessages { NoParkedMessages() }
}

/// The parked messages of a session that has no processors: none.
private struct NoParkedMessages: ParkedMessages {
    func messages(of processor: String?, after id: StoredMessage.ID?, limit: Int) async throws -> [ParkedMessage] { [] }
    func retry(_ id: StoredMessage.ID) async throws -> Bool { false }
    func remove(_ id: StoredMessage.ID) async throws -> Bool { false }
}
