/// The client id and broker that stored rows belong to. Clients that share a store have different scopes.
///
/// Two scopes are equal if their UTF-8 bytes are equal, because brokers compare client ids in this way.
public struct StoreScope: Hashable, Sendable {
    /// The client id. If the configured client id contains `%`, the value is the id that the client created from it.
    public let clientID: String

    /// The broker, as `host:port`.
    public let broker: String

    /// Creates a scope.
    ///
    /// - Parameters:
    ///   - clientID: The client id.
    ///   - broker: The broker, as `host:port`.
    public init(clientID: String, broker: String) {
        self.clientID = clientID
        self.broker = broker
    }

    /// Returns whether both client ids and both brokers have the same UTF-8 bytes.
    public static func == (left: StoreScope, right: StoreScope) -> Bool {
        TopicRules.sameBytes(left.clientID, right.clientID) && TopicRules.sameBytes(left.broker, right.broker)
    }

    /// Hashes the UTF-8 bytes of the client id and the broker.
    public func hash(into hasher: inout Hasher) {
        for text in [clientID, broker] {
            hasher.combine(text.utf8.count)
            for byte in text.utf8 { hasher.combine(byte) }
        }
    }
}
