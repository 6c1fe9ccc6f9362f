/// A checked topic name, which a message can be published to.
///
/// Two names are equal if their UTF-8 bytes are equal.
///
/// ```swift
/// let name = try TopicName("chat/7/notes")
/// ```
public struct TopicName: Hashable, Sendable {
    /// The name's text.
    public let string: String

    /// Creates a name and checks it.
    ///
    /// - Parameter string: The text. It has 1 to 65,535 bytes of UTF-8 and no U+0000, `+` or `#`. `/` separates levels,
    ///   which may be empty. The text must not begin with `$share/`, because only filters of shared subscriptions begin
    ///   with `$share/`. A message with such a name would reach no member of the group.
    /// - Throws: ``CourierError/Code-swift.struct/invalidTopicName``. Its text names the broken rule.
    public init(_ string: String) throws(CourierError) {
        try self.init(received: string)
        if TopicRules.isShared(string) { throw Self.sharedNameError(string) }
    }

    /// Creates the name of a received message. The name may begin with `$share/`, because a broker that does not
    /// support shared subscriptions may send a message with such a name.
    package init(received string: String) throws(CourierError) {
        if TopicRules.isLegalName(string) {
            self.string = string
            return
        }
        if let problem = TopicRules.lengthOrNullProblem(of: string) {
            throw CourierError(.invalidTopicName, "The topic name \(string.quoted()) \(problem).")
        }
        // [MQTT-3.3.2-2] and [MQTT-4.7.1-1]: only filters may contain wildcards.
        let wildcard = string.utf8.first { byte in
            byte == TopicRules.singleLevelWildcard || byte == TopicRules.multiLevelWildcard
        }
        if let wildcard {
            throw CourierError(
                .invalidTopicName,
                "The topic name \(string.quoted()) contains '\(Unicode.Scalar(wildcard))'; "
                    + "only topic filters have wildcards. Publish to one exact topic.")
        }
        var string = string
        string.makeContiguousUTF8()
        self.string = string
    }

    /// Returns whether the text is a legal topic name to publish to. This quick check gives no reason; ``init(_:)``
    /// throws an error that names the broken rule.
    package static func isPlainlyLegal(_ string: String) -> Bool {
        TopicRules.isLegalName(string) && !TopicRules.isShared(string)
    }

    private static func sharedNameError(_ string: String) -> CourierError {
        guard let filter = try? TopicFilter(string) else {
            return CourierError(
                .invalidTopicName,
                "The topic name \(string.quoted()) begins with $share/, which is only for shared subscriptions; "
                    + "publish to a name without $share/.")
        }
        return CourierError(
            .invalidTopicName,
            "The topic name \(string.quoted()) is the filter of a shared subscription; "
                + "publish to \(filter.matchedString.quoted()).")
    }

    /// Compares the UTF-8 bytes.
    public static func == (left: TopicName, right: TopicName) -> Bool {
        TopicRules.sameBytes(left.string, right.string)
    }

    /// Hashes the UTF-8 bytes.
    public func hash(into hasher: inout Hasher) {
        string.utf8.withContiguousStorageIfAvailable { hasher.combine(bytes: UnsafeRawBufferPointer($0)) }
        hasher.combine(UInt8(0xFF))  // Marks the end of the text, because UTF-8 never contains 0xFF.
    }
}

extension TopicName: CustomStringConvertible {
    /// The name's text.
    public var description: String { string }
}
