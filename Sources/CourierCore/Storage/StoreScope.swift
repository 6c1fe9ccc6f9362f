/// Whose rows these are: clients that share a store are separated by client id and broker.
///
/// Two scopes are equal when the UTF-8 bytes of both are, as brokers compare client ids.
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

    /// Compares the bytes.
    public static func == (left: StoreScope, right: StoreScope) -> Bool {
        TopicRules.sameBytes(left.clientID, right.clientID) && TopicRules.sameBytes(left.broker, right.broker)
    }

    /// Hashes the bytes.
    public func hash(into hasher: inout Hasher) {
        for text in [clientID, broker] {
            hasher.combine(text.utf8.count)
            for byte in text.utf8 { hasher.combine(byte) }
        }
    }
}
