/// A topic that a message can be published to: checked against MQTT's rules.
///
/// Two names are equal when their UTF-8 bytes are.
///
/// ```swift
/// let name = try TopicName("chat/7/notes")
/// ```
public struct TopicName: Hashable, Sendable {
    /// The name's text.
    public let string: String

    /// Checks a name.
    ///
    /// - Parameter string: The text: 1 to 65,535 bytes of UTF-8, no U+0000, no `+` or `#`; `/` separates levels,
    ///   which may be empty. It does not begin with `$share/`: that is the filter of a shared subscription, and what is
    ///   published there reaches none of the group.
    /// - Throws: ``CourierError/Code-swift.struct/invalidTopicName`` with the rule that was broken.
    public init(_ string: String) throws(CourierError) {
        try self.init(received: string)
        if TopicRules.isShared(string) { throw Self.sharedNameError(string) }
    }

    /// Takes the name that a message came with, which a broker without shared subscriptions may let begin with `$share/`.
    package init(received string: String) throws(CourierError) {
        if TopicRules.isLegalName(string) {
            self.string = string
            return
        }
        if let problem = TopicRules.lengthOrNullProblem(of: string) {
            throw CourierError(.invalidTopicName, "The topic name \(string.quoted()) \(problem).")
        }
        // [MQTT-3.3.2-2] and [MQTT-4.7.1-1]: wildcards belong to filters.
        let wildcard = string.utf8.first { byte in
            byte == TopicRules.singleLevelWildcard || byte == TopicRules.multiLevelWildcard
        }
        if let wildcard {
            throw CourierError(
                .invalidTopicName,
                "The topic name \(string.quoted()) contains '\(Unicode.Scalar(wildcard))'; wildcards are for topic filters, "
                    + "publish to one exact topic.")
        }
        var string = string
        string.makeContiguousUTF8()
        self.string = string
    }

    /// Whether the text is known to be a legal name without a closer look: for the many that are, before a message is
    /// sent. Only ``init(_:)`` says what is wrong with one that is not.
    package static func isPlainlyLegal(_ string: String) -> Bool {
        TopicRules.isLegalName(string) && !TopicRules.isShared(string)
    }

    private static func sharedNameError(_ string: String) -> CourierError {
        guard let filter = try? TopicFilter(string) else {
            return CourierError(
                .invalidTopicName,
                "The topic name \(string.quoted()) begins with $share/, which is for the filters of shared subscriptions; "
                    + "publish to a name without it.")
        }
        return CourierError(
            .invalidTopicName,
            "The topic name \(string.quoted()) is a shared subscription's filter; publish to "
                + "\(filter.matchedString.quoted()).")
    }

    /// Compares the bytes.
    public static func == (left: TopicName, right: TopicName) -> Bool {
        TopicRules.sameBytes(left.string, right.string)
    }

    /// Hashes the bytes.
    public func hash(into hasher: inout Hasher) {
        string.utf8.withContiguousStorageIfAvailable { hasher.combine(bytes: UnsafeRawBufferPointer($0)) }
        hasher.combine(UInt8(0xFF))  // Ends the text; never a byte of UTF-8.
    }
}

extension TopicName: CustomStringConvertible {
    /// The name's text.
    public var description: String { string }
}
