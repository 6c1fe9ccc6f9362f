/// Says in which format the messages of some topics are, where they do not say it themselves.
///
/// ```swift
/// config.adapterRules = [AdapterRule("legacy/#", contentType: "application/x-plist")]
/// ```
///
/// The order of choice, for reading and for writing: the content type of the message (MQTT 5), the first rule whose
/// filter matches the topic, the order of the adapters. An adapter that cannot do it passes to the next.
public struct AdapterRule: Hashable, Sendable {
    /// The topic filter.
    public var filter: String

    /// The content type of the adapter to ask first; letter case and parameters do not matter.
    public var contentType: String

    /// Makes a rule; it is checked when the client is made.
    ///
    /// - Parameters:
    ///   - filter: The topic filter; a plain topic name for one topic.
    ///   - contentType: The content type of one of the client's adapters.
    public init(_ filter: String, contentType: String) {
        self.filter = filter
        self.contentType = contentType
    }
}
