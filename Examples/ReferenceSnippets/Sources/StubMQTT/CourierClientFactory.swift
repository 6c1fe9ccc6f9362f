public import CourierCore

/// Stands in for the factory of `CourierMQTT` until that target exists; then this target goes and the snippets use the real one.
public struct CourierClientFactory: Sendable {
    /// Makes a factory.
    public init() {}

    /// Makes a client that never connects.
    ///
    /// - Parameter config: The configuration.
    /// - Returns: The client.
    public func makeMQTTClient(config: MQTTClientConfig) -> any CourierClient { StubClient() }
}
