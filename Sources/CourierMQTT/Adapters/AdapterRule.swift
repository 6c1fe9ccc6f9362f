/// Chooses an adapter by topic, for messages that have no content type.
///
/// ```swift
/// config.adapterRules = [AdapterRule("legacy/#", contentType: "application/x-plist")]
/// ```
///
/// Adapters are tried in this order, for reading and writing:
///
/// 1. the adapters for the content type of the message (MQTT 5),
/// 2. the adapters of the first rule whose filter matches the topic,
/// 3. all other adapters in the client's order.
///
/// If an adapter throws, the next adapter is tried.
public struct AdapterRule: Hashable, Sendable {
    /// The filter that the topic of a message must match.
    public var filter: String

    /// The content type of the adapter to try first. Letter case and parameters are ignored.
    public var contentType: String

    /// Makes a rule. Its values are checked when the client is made.
    ///
    /// - Parameters:
    ///   - filter: The topic filter. A topic name without wildcards matches only this one topic.
    ///   - contentType: The content type of one of the client's adapters.
    public init(_ filter: String, contentType: String) {
        self.filter = filter
        self.contentType = contentType
    }
}
