public import CourierCore

/// What a logger overwrites with `*` before it keeps a packet, beside what it always overwrites.
///
/// Passwords and the data of an enhanced authentication are always overwritten. Names, sizes and structure stay, so
/// that packets can still be read, exported and counted.
///
/// ```swift
/// var options = MQTTChuckOptions()
/// options.redaction.userPropertyNames.append("session")
/// options.redaction.topics.append(.init(try TopicFilter("patients/#")))
/// ```
public struct MQTTChuckRedaction: Sendable {
    /// Messages that are hidden by their topic.
    public struct TopicRule: Sendable {
        /// The topics.
        public let filter: TopicFilter

        /// Whether the topic itself is hidden too, also in SUBSCRIBE and UNSUBSCRIBE, and not only what the message
        /// says.
        public let hidesTopic: Bool

        /// Hides the payload, the correlation data and the user properties of messages, and of wills, on these topics.
        ///
        /// - Parameters:
        ///   - filter: The topics.
        ///   - hidesTopic: Whether the topic is hidden too; `false` by default.
        public init(_ filter: TopicFilter, hidesTopic: Bool = false) {
            self.filter = filter
            self.hidesTopic = hidesTopic
        }
    }

    /// The words that make a user property secret by default.
    public static let secretWords = [
        "authorization", "apikey", "api-key", "api_key", "cookie", "credential", "jwt", "passwd", "password", "secret",
        "token",
    ]

    /// The value of a user property is hidden when its name contains one of these, in upper or lower case;
    /// ``secretWords`` by default. Only ASCII letters are compared without case.
    public var userPropertyNames: [String]

    /// Messages that are hidden by their topic; none by default.
    public var topics: [TopicRule]

    /// Whether the user name of CONNECT is hidden; `false` by default. Some brokers take a token there.
    public var hidesUserName: Bool

    /// Collects the rules.
    ///
    /// - Parameters:
    ///   - userPropertyNames: The names of secret user properties, or parts of them.
    ///   - topics: Messages that are hidden by their topic; none by default.
    ///   - hidesUserName: Whether the user name is hidden; `false` by default.
    public init(
        userPropertyNames: [String] = MQTTChuckRedaction.secretWords, topics: [TopicRule] = [],
        hidesUserName: Bool = false
    ) {
        self.userPropertyNames = userPropertyNames
        self.topics = topics
        self.hidesUserName = hidesUserName
    }
}
