/// Whose rows these are: clients that share a store are separated by client id and broker.
public struct StoreScope: Hashable, Sendable {
    /// The client id; of a template the id that the client made of it.
    public let clientID: String

    /// The broker, as `host:port`.
    public let broker: String

    /// Joins the two.
    ///
    /// - Parameters:
    ///   - clientID: The client id.
    ///   - broker: The broker, as `host:port`.
    public init(clientID: String, broker: String) {
        self.clientID = clientID
        self.broker = broker
    }
}
