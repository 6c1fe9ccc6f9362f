/// A topic filter that the client wants to subscribe to or to unsubscribe from.
public struct StoredSubscription: Hashable, Sendable {
    /// Whether the client wants messages of the filter.
    public enum Intent: Hashable, Sendable {
        /// The client wants messages, with at most this quality of service.
        case subscribed(QoS)

        /// The client wants no more messages, and the broker has not confirmed the unsubscription yet.
        case unsubscribing
    }

    /// The topic filter.
    public let filter: TopicFilter

    /// Whether the client wants messages of the filter.
    public let intent: Intent

    /// Creates a stored subscription.
    ///
    /// - Parameters:
    ///   - filter: The topic filter.
    ///   - intent: Whether the client wants messages of the filter.
    public init(_ filter: TopicFilter, _ intent: Intent) {
        self.filter = filter
        self.intent = intent
    }
}
