extension CourierSession {
    /// Wants a connection from now on; the same as `connect(source: "app")`.
    public func connect() { connect(source: "app") }

    /// Hands the topics over as an array.
    ///
    /// - Parameter topics: Topic filters, each with the highest quality of service for its messages.
    public func subscribe(_ topics: (topic: String, qos: QoS)...) { subscribe(topics) }

    /// Hands the topics over as an array.
    ///
    /// - Parameter topics: Topic filters as they were subscribed.
    public func unsubscribe(_ topics: String...) { unsubscribe(topics) }
}
