import CourierCore

/// Checks every text that the client sends to the broker.
struct WireText: Sendable {
    /// The maximum length of a text in bytes of UTF-8. MQTT stores the length in two bytes (1.5.4).
    static let limit = 65_535

    let policy: TextPolicy

    /// The rules of a client whose configuration sets no policy.
    static let portable = WireText(policy: .portable)

    /// Returns the problem with the text; `nil` if the text may be sent. The result is the end of a sentence that
    /// begins with the text's name.
    func problem(_ text: String) -> String? {
        let count = text.utf8.count
        // Do the quick check first, because most texts pass it.
        if count <= Self.limit, PortableText.isPortable(text) { return nil }
        if count > Self.limit { return "has \(count) bytes of UTF-8; at most \(Self.limit) are allowed" }
        if text.utf8.contains(0) { return "contains U+0000, which MQTT does not allow" }  // [MQTT-1.5.4-2]
        guard policy == .portable else { return nil }
        return PortableText.problem(of: text).map { $0 + Self.remedy }
    }

    /// Returns the reason why the policy refuses a topic name or filter that MQTT allows; `nil` if the topic may be
    /// sent.
    func topicProblem(_ topic: String) -> String? {
        guard policy == .portable else { return nil }
        return PortableText.topicProblem(of: topic).map { $0 + Self.remedy }
    }

    /// True if the text is a legal topic name that may be sent. This quick check runs for each message.
    func allows(topicName: String) -> Bool {
        switch policy {
        case .portable:
            PortableText.isPlainTopicName(topicName)
                || (TopicName.isPlainlyLegal(topicName) && PortableText.isPortableTopic(topicName))
        case .anyLegal: TopicName.isPlainlyLegal(topicName)
        }
    }

    /// Checks a topic name before a message is published to it.
    ///
    /// - Throws: ``CourierError/Code/invalidTopicName`` whose message contains the character and its position.
    func check(topicName: String) throws(CourierError) {
        guard let problem = topicProblem(topicName) else { return }
        throw CourierError(.invalidTopicName, "The topic name \(topicName.quoted()) \(problem).")
    }

    /// Checks a topic filter before it is sent in SUBSCRIBE or UNSUBSCRIBE.
    ///
    /// - Throws: ``CourierError/Code/invalidTopicFilter`` whose message contains the character and its position.
    func check(_ filter: TopicFilter) throws(CourierError) {
        guard let problem = topicProblem(filter.string) else { return }
        throw CourierError(.invalidTopicFilter, "The topic filter \(filter.string.quoted()) \(problem).")
    }

    private static let remedy = ", so remove it or set `limits.textPolicy` to `.anyLegal`"
}
