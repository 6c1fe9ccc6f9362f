/// Sets the format of messages on some topics, for messages without a content type of their own.
///
/// ```swift
/// config.adapterRules = [AdapterRule("legacy/#", contentType: "application/x-plist")]
/// ```
///
/// An adapter is chosen by the content type of the message (MQTT 5), then by the first rule whose filter matches the
/// topic, then by the order of the adapters. If an adapter throws, the next one is tried. This applies to reading and
/// writing.
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
