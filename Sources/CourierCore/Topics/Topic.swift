/// A topic, or a group of topics with parameters, whose messages carry one type of value.
///
/// ```swift
/// let notes = Topic<Note>("chat/{room}/notes", qos: .one)
///
/// try await client.publish(note, to: notes(room: "7"))  // chat/7/notes
/// for try await note in client.messages(from: notes) { … }  // chat/+/notes
/// try notes.arguments(in: TopicName("chat/7/notes"))  // ["room": "7"]
/// ```
///
/// `{name}` is a parameter. A parameter stands for one whole level. A call such as `notes(room: "7")` sets its value.
/// `%u` stands for the user name of the connection, `%c` for its client id, and `%%` for a percent sign.
///
/// Each use of a topic replaces `%u` and `%c` once, with the values of the latest connection attempt. A loop that
/// starts before the first attempt waits for that attempt. A running loop keeps its values, even if a different user
/// connects later. So end the loop before a different user connects, and start it again afterwards.
///
/// Creating or calling a topic never traps and never throws. If the template has a mistake, a parameter is unknown, or
/// a value is not a single level, the topic stores the error. The methods that use the topic throw this error. To get
/// the error earlier, call ``checked()``.
@dynamicCallable
public struct Topic<Value>: Sendable {
    /// The text of the template, with the parameter values that were set so far.
    public let template: TopicTemplate

    /// The quality of service for publishing and subscribing, unless the call specifies another quality of service. A
    /// request with `request(_:to:timeout:as:)` always uses `.one`.
    public let qos: QoS

    /// Creates a topic from a template.
    ///
    /// - Parameters:
    ///   - template: The text with its `{parameters}`, `%u` and `%c`.
    ///   - qos: The quality of service; `.one` by default.
    public init(_ template: String, qos: QoS = .one) { self.init(TopicTemplate(template), qos: qos) }

    private init(_ template: TopicTemplate, qos: QoS) {
        self.template = template
        self.qos = qos
    }

    /// Sets values of parameters, as in `notes(room: "7")`. All other parameters remain unchanged.
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

    /// Checks the text and the values, and returns this topic.
    ///
    /// - Returns: This topic.
    /// - Throws: The error in the template or a value.
    @discardableResult
    public func checked() throws -> Topic<Value> {
        try template.check()
        return self
    }

    /// The topic filter, with `+` for each parameter without a value.
    ///
    /// - Throws: The error in the template, or ``CourierError/Code-swift.struct/unresolvedPlaceholder`` if it contains
    ///   `%u` or `%c`.
    public var filter: TopicFilter { get throws { try template.filter(for: nil) } }

    /// Returns the topic filter for one connection, with `+` for each parameter without a value.
    ///
    /// - Parameter identity: The values of `%u` and `%c`.
    /// - Returns: The filter.
    /// - Throws: The error in the template, a value or the identity.
    public func filter(for identity: ConnectionIdentity) throws -> TopicFilter { try template.filter(for: identity) }

    /// Returns the parameters' values in the topic of a received message.
    ///
    /// - Parameters:
    ///   - topic: The topic of the message.
    ///   - identity: The values of `%u` and `%c`; needed only if the template contains `%u` or `%c`.
    /// - Returns: The values by name; `nil` if the topic does not match the template.
    /// - Throws: The error in the template, a value or the identity.
    public func arguments(in topic: TopicName, for identity: ConnectionIdentity? = nil) throws -> [String: String]? {
        try template.arguments(in: topic, for: identity)
    }
}
