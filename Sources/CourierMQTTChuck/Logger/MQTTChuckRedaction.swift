public import CourierCore

/// Rules for data that a logger overwrites with `*` before it stores a packet.
///
/// Passwords and data of enhanced authentication are overwritten even without a rule. Names, sizes and the structure of
/// packets remain, so that packets can still be read, exported and counted.
///
/// ```swift
/// var options = MQTTChuckOptions()
/// options.redaction.userPropertyNames.append("session")
/// options.redaction.topics.append(.init(try TopicFilter("patients/#")))
/// ```
public struct MQTTChuckRedaction: Sendable {
    /// A rule that hides the content of messages by their topic.
    public struct TopicRule: Sendable {
        /// A filter that matches the topics to hide.
        public let filter: TopicFilter

        /// True if the topic itself is hidden too, also in SUBSCRIBE and UNSUBSCRIBE.
        public let hidesTopic: Bool

        /// Creates a rule that hides the payload, correlation data and user properties of messages and wills on these
        /// topics.
        ///
        /// - Parameters:
        ///   - filter: A filter that matches the topics.
        ///   - hidesTopic: True if the topic is hidden too; `false` by default.
        public init(_ filter: TopicFilter, hidesTopic: Bool = false) {
            self.filter = filter
            self.hidesTopic = hidesTopic
        }
    }

    /// Words in the name of a user property that make its value secret by default.
    public static let secretWords = [
        "authorization", "apikey", "api-key", "api_key", "cookie", "credential", "jwt", "passwd", "password", "secret",
        "token",
    ]

    /// Names, or parts of names, of secret user properties; ``secretWords`` by default. The value is hidden if the name
    /// contains one of these words. The comparison ignores the case of ASCII letters.
    public var userPropertyNames: [String]

    /// The rules that hide messages by their topic; none by default.
    public var topics: [TopicRule]

    /// True if the user name of CONNECT is hidden; `false` by default. Hide it if the broker expects a token as the
    /// user name.
    public var hidesUserName: Bool

    /// Creates a set of redaction rules.
    ///
    /// - Parameters:
    ///   - userPropertyNames: Names of secret user properties, or parts of such names.
    ///   - topics: The rules that hide messages by their topic; none by default.
    ///   - hidesUserName: True if the user name is hidden; `false` by default.
    public init(
        userPropertyNames: [String] = MQTTChuckRedaction.secretWords, topics: [TopicRule] = [],
        hidesUserName: Bool = false
    ) {
        self.userPropertyNames = userPropertyNames
        self.topics = topics
        self.hidesUserName = hidesUserName
    }
}
