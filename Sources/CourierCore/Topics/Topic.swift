/// A family of topics that carry one type of value.
///
/// ```swift
/// let notes = Topic<Note>("chat/{room}/notes", qos: .one)
///
/// try await client.publish(note, to: notes(room: "7"))  // chat/7/notes
/// for try await note in client.messages(from: notes) { … }  // chat/+/notes
/// try notes.arguments(in: TopicName("chat/7/notes"))  // ["room": "7"]
/// ```
///
/// `{name}` stands for one whole level and gets its value by a call. `%u` and `%c` stand for the user name and client
/// id of the connection, and `%%` for a percent sign. Each use fills them in once, from the latest connection that was
/// begun. A loop without one waits for the first, and keeps what it has filled in when another user connects: end such
/// loops before, and begin them anew when that user is connected.
///
/// Nothing traps and nothing throws while a topic is written down or called: a template that cannot be read, an
/// unknown parameter, or a value that would leave its level is kept and thrown by whoever uses the topic, or earlier by
/// ``checked()``.
@dynamicCallable
public struct Topic<Value>: Sendable {
    /// The text, with the values given so far.
    public let template: TopicTemplate

    /// The quality of service for publishing and subscribing, unless the call names another. A request by
    /// `request(_:to:timeout:as:)` always has `.one`.
    public let qos: QoS

    /// Writes a topic down.
    ///
    /// - Parameters:
    ///   - template: The text with its `{parameters}`, `%u` and `%c`.
    ///   - qos: The quality of service; `.one` by default.
    public init(_ template: String, qos: QoS = .one) { self.init(TopicTemplate(template), qos: qos) }

    private init(_ template: TopicTemplate, qos: QoS) {
        self.template = template
        self.qos = qos
    }

    /// Gives values to parameters, as in `notes(room: "7")`; parameters that are not named stay open.
    ///
    /// - Parameter arguments: The parameters' names and values.
    /// - Returns: The topic with these values.
    public func dynamicallyCall(
        withKeywordArguments arguments: KeyValuePairs<String, any LosslessStringConvertible>
    ) -> Topic<Value> {
        var bound = template
        for (name, value) in arguments { bound = bound.binding(name, to: value.description) }
        return Topic(bound, qos: qos)
    }

    /// The same topic, after making sure that its text and values are right.
    ///
    /// - Returns: This topic.
    /// - Throws: What is wrong with the template or a value.
    @discardableResult
    public func checked() throws -> Topic<Value> {
        try template.check()
        return self
    }

    /// The topic filter with `+` for every open parameter.
    ///
    /// - Throws: What is wrong with the template, or ``CourierError/Code-swift.struct/unresolvedPlaceholder`` when
    ///   it holds `%u` or `%c`.
    public var filter: TopicFilter { get throws { try template.filter(for: nil) } }

    /// The topic filter with `+` for every open parameter, as one connection sees it.
    ///
    /// - Parameter identity: What `%u` and `%c` stand for.
    /// - Returns: The filter.
    /// - Throws: What is wrong with the template, a value, or the identity.
    public func filter(for identity: ConnectionIdentity) throws -> TopicFilter { try template.filter(for: identity) }

    /// The parameters' values in a topic that a message came on.
    ///
    /// - Parameters:
    ///   - topic: The topic of the message.
    ///   - identity: What `%u` and `%c` stand for; needed only where the template holds them.
    /// - Returns: The values by name, `nil` when the topic is not of this family.
    /// - Throws: What is wrong with the template, a value, or the identity.
    public func arguments(in topic: TopicName, for identity: ConnectionIdentity? = nil) throws -> [String: String]? {
        try template.arguments(in: topic, for: identity)
    }
}
