extension CourierSession {
    /// Connects; the same as `connect(source: "app")`.
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
    ///   - retain: Whether the broker keeps it for later subscribers.
    ///   - properties: The properties of MQTT 5.
    ///   - completion: Called once with the result; `nil` if the result does not matter.
    /// - Throws: What the form with an array throws.
    public func publish(
        span: RawSpan, to topic: String, qos: QoS, retain: Bool, properties: MessageProperties,
        completion: (@Sendable (Result<PublishReceipt, CourierError>) -> Void)?
    ) throws {
        try publish(
            bytes: span.withUnsafeBytes { [UInt8]($0) }, to: topic, qos: qos, retain: retain, properties: properties,
            completion: completion)
    }

    /// Hands the topics over as an array.
    ///
    /// - Parameter topics: Topic filters as they were subscribed.
    public func unsubscribe(_ topics: String...) { unsubscribe(topics) }

    /// Returns `nil`, because a session that does not implement this property has no CONNACK.
    public var responseInformation: String? { nil }

    /// Ends the connection with options for the DISCONNECT packet (MQTT 5), and returns before it has ended.
    ///
    /// - Parameter options: The fields of DISCONNECT.
    /// - Throws: What ``disconnect(_:completion:)`` throws; the connection stays then.
    public func disconnect(_ options: DisconnectOptions) throws { try disconnect(options) { _ in } }

    /// Disconnects without options. A session that does not implement this method cannot send options.
    ///
    /// - Parameters:
    ///   - options: The fields of DISCONNECT.
    ///   - completion: Called once when there is no connection any more.
    /// - Throws: Nothing.
    public func disconnect(
        _ options: DisconnectOptions, completion: @escaping @Sendable (Result<Void, CourierError>) -> Void
    ) throws {
        disconnect(completion: completion)
    }
}
