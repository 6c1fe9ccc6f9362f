/// A topic filter that the client wants, or wants to be rid of.
public struct StoredSubscription: Hashable, Sendable {
    /// What the client wants of it.
    public enum Intent: Hashable, Sendable {
        /// Messages, with at most this quality of service.
        case subscribed(QoS)

        /// No more messages; the broker has not confirmed it yet.
        case unsubscribing
    }

    /// The topic filter.
    public let filter: TopicFilter

    /// What the client wants of it.
    public let intent: Intent

    /// Joins the two.
    ///
    /// - Parameters:
    ///   - filter: The topic filter.
    ///   - intent: What the client wants of it.
    public init(_ filter: TopicFilter, _ intent: Intent) {
        self.filter = filter
        self.intent = intent
    }
}
