/// A checked topic filter: a pattern of topics to subscribe to.
///
/// `+` matches one level. `#` matches any number of levels, including none: `a/#` also matches `a`. A filter that
/// begins with `$share/group/` divides the messages among the members of the group. Two filters are equal if their
/// UTF-8 bytes are equal.
///
/// ```swift
/// let filter = try TopicFilter("chat/+/notes")
/// filter.matches(try TopicName("chat/7/notes"))  // true
/// ```
public struct TopicFilter: Hashable, Sendable {
    /// The whole text of the filter, as it is sent to the broker.
    public let string: String

    /// The byte offset of the part that is compared with topics. It is 0 if the filter does not begin with
    /// `$share/group/`.
    private let matchedOffset: Int

    /// Creates a filter and checks it.
    ///
    /// - Parameter string: The text. It has 1 to 65,535 bytes of UTF-8 and no U+0000. `+` must be a whole level, and
    ///   `#` the whole last level. A share name has at least one character and no wildcards.
    /// - Throws: ``CourierError/Code-swift.struct/invalidTopicFilter``. Its text names the broken rule.
    public init(_ string: String) throws(CourierError) {
        do throws(Violation) {
            matchedOffset = try Self.check(string)
        } catch {
            throw CourierError(.invalidTopicFilter, "The topic filter \(string.quoted()) \(error.sentence).")
        }
        var string = string
        string.makeContiguousUTF8()
        self.string = string
    }

    /// The group name of a shared subscription; `nil` if the filter is not shared.
    public var shareGroup: String? {
        guard matchedOffset > 0 else { return nil }
        let bytes = string.utf8.dropFirst(TopicRules.sharePrefix.utf8.count).prefix { $0 != TopicRules.separator }
        return String(Substring(bytes))
    }

    /// The part of the filter that is compared with topics: the text without `$share/group/`.
    public var matchedString: String { String(Substring(string.utf8.dropFirst(matchedOffset))) }

    /// Returns whether the filter matches a topic.
    ///
    /// The method compares bytes, level by level, and allocates no memory. A wildcard in the first level does not match
    /// topics that begin with `$` [MQTT-4.7.2-1].
    ///
    /// - Parameter topic: The topic of the message.
    /// - Returns: `true` if the filter matches.
    public func matches(_ topic: TopicName) -> Bool {
        string.withUTF8Span { filter in
            topic.string.withUTF8Span { topic in
                Self.matches(filter.extracting(droppingFirst: matchedOffset), topic)
            }
        }
    }

    /// Compares the UTF-8 bytes.
    public static func == (left: TopicFilter, right: TopicFilter) -> Bool {
        TopicRules.sameBytes(left.string, right.string)
    }

    /// Hashes the UTF-8 bytes.
    public func hash(into hasher: inout Hasher) {
        string.utf8.withContiguousStorageIfAvailable { hasher.combine(bytes: UnsafeRawBufferPointer($0)) }
        hasher.combine(UInt8(0xFF))  // Marks the end of the text, because UTF-8 never contains 0xFF.
    }
}

extension TopicFilter: CustomStringConvertible {
    /// The whole text of the filter.
    public var description: String { string }
}

// MARK: - Checking

extension TopicFilter {
    /// A broken rule, described by a part of a sentence.
    private struct Violation: Error { let sentence: String }

    /// Checks every rule, and returns the byte offset of the part that is compared with topics.
    private static func check(_ string: String) throws(Violation) -> Int {
        if let problem = TopicRules.lengthOrNullProblem(of: string) { throw Violation(sentence: problem) }
        let offset = try shareLength(of: string)
        try checkWildcards(in: string.utf8.dropFirst(offset))
        return offset
    }

    /// Returns the length of `$share/group/` in bytes; 0 for a filter that is not shared [MQTT-4.8.2-1],
    /// [MQTT-4.8.2-2].
    private static func shareLength(of string: String) throws(Violation) -> Int {
        guard TopicRules.isShared(string) else { return 0 }
        let rest = string.utf8.dropFirst(TopicRules.sharePrefix.utf8.count)
        let group = rest.prefix { $0 != TopicRules.separator }
        if group.isEmpty {
            throw Violation(sentence: "has no share name; write $share/group/filter")
        }
        if group.contains(where: { $0 == TopicRules.singleLevelWildcard || $0 == TopicRules.multiLevelWildcard }) {
            throw Violation(
                sentence: "has a wildcard in its share name; write $share/group/filter with a plain group name")
        }
        if rest.count < group.count + 2 {
            throw Violation(sentence: "has no filter after its share name; write $share/group/filter")
        }
        return TopicRules.sharePrefix.utf8.count + group.count + 1
    }

    private static func checkWildcards(in bytes: Substring.UTF8View) throws(Violation) {
        var isLevelStart = true
        var wildcard: UInt8?  // Set while the current level contains only this wildcard.
        for byte in bytes {
            if byte == TopicRules.separator {
                if wildcard == TopicRules.multiLevelWildcard { throw misplacedMultiLevelWildcard }
                (isLevelStart, wildcard) = (true, nil)
                continue
            }
            if wildcard == TopicRules.multiLevelWildcard { throw misplacedMultiLevelWildcard }
            if wildcard == TopicRules.singleLevelWildcard { throw misplacedSingleLevelWildcard }
            if byte == TopicRules.multiLevelWildcard || byte == TopicRules.singleLevelWildcard {
                guard isLevelStart else {
                    throw byte == TopicRules.multiLevelWildcard
                        ? misplacedMultiLevelWildcard : misplacedSingleLevelWildcard
                }
                wildcard = byte
            }
            isLevelStart = false
        }
    }

    // The rule is [MQTT-4.7.1-1] in MQTT 5.0, and [MQTT-4.7.1-2] in MQTT 3.1.1.
    private static let misplacedMultiLevelWildcard = Violation(
        sentence: "has '#' that is not its whole last level; use '#' only at the end, as in a/b/#")

    // The rule is [MQTT-4.7.1-2] in MQTT 5.0, and [MQTT-4.7.1-3] in MQTT 3.1.1.
    private static let misplacedSingleLevelWildcard = Violation(
        sentence: "has '+' beside other characters of a level; use '+' as a whole level, as in a/+/b")
}

// MARK: - Matching

extension TopicFilter {
    /// Returns whether a valid filter without `$share/group/` matches a valid topic name. Both are UTF-8 bytes.
    ///
    /// The function reads the bytes once, without recursion, and allocates no memory. Callers that have bytes and no
    /// `String` use this function.
    package static func matches(_ filter: Span<UInt8>, _ topic: Span<UInt8>) -> Bool {
        if !topic.isEmpty, topic[0] == UInt8(ascii: "$"), !filter.isEmpty, isWildcard(filter[0]) {
            return false  // [MQTT-4.7.2-1]
        }
        var (inFilter, inTopic) = (0, 0)
        while true {
            // Both `inFilter` and `inTopic` are at the start of a level, which may be empty.
            if inFilter < filter.count, filter[inFilter] == TopicRules.multiLevelWildcard { return true }
            if inFilter < filter.count, filter[inFilter] == TopicRules.singleLevelWildcard {
                inFilter += 1
                while !isLevelEnd(inTopic, of: topic) { inTopic += 1 }
            } else {
                while !isLevelEnd(inFilter, of: filter), inTopic < topic.count, filter[inFilter] == topic[inTopic] {
                    inFilter += 1
                    inTopic += 1
                }
                guard isLevelEnd(inFilter, of: filter), isLevelEnd(inTopic, of: topic) else { return false }
            }
            if inFilter == filter.count { return inTopic == topic.count }
            if inTopic == topic.count {
                return isRestOfAll(filter, from: inFilter)
            }
            inFilter += 1
            inTopic += 1
        }
    }

    /// Returns whether at least one topic, which may be empty, matches both filters. Shared filters are compared
    /// without `$share/group/`.
    package func overlaps(_ other: TopicFilter) -> Bool {
        string.withUTF8Span { one in
            other.string.withUTF8Span { two in
                Self.overlap(
                    one.extracting(droppingFirst: matchedOffset), two.extracting(droppingFirst: other.matchedOffset))
            }
        }
    }

    /// Whether the filter contains a wildcard.
    package var hasWildcard: Bool { string.utf8.dropFirst(matchedOffset).contains { Self.isWildcard($0) } }

    private static func overlap(_ one: Span<UInt8>, _ two: Span<UInt8>) -> Bool {
        if !one.isEmpty, !two.isEmpty {
            let isAside = one[0] == UInt8(ascii: "$") || two[0] == UInt8(ascii: "$")
            if isAside, isWildcard(one[0]) || isWildcard(two[0]) { return false }  // [MQTT-4.7.2-1]
        }
        var (inOne, inTwo) = (0, 0)
        while true {
            // Both `inOne` and `inTwo` are at the start of a level, which may be empty.
            if isWildcard(inOne, of: one, TopicRules.multiLevelWildcard) { return true }
            if isWildcard(inTwo, of: two, TopicRules.multiLevelWildcard) { return true }
            let isAnyLevel =
                isWildcard(inOne, of: one, TopicRules.singleLevelWildcard)
                || isWildcard(inTwo, of: two, TopicRules.singleLevelWildcard)
            while !isLevelEnd(inOne, of: one), !isLevelEnd(inTwo, of: two), isAnyLevel || one[inOne] == two[inTwo] {
                inOne += 1
                inTwo += 1
            }
            if isAnyLevel {
                while !isLevelEnd(inOne, of: one) { inOne += 1 }
                while !isLevelEnd(inTwo, of: two) { inTwo += 1 }
            }
            guard isLevelEnd(inOne, of: one), isLevelEnd(inTwo, of: two) else { return false }
            if inOne == one.count { return inTwo == two.count || isRestOfAll(two, from: inTwo) }
            if inTwo == two.count { return isRestOfAll(one, from: inOne) }
            inOne += 1
            inTwo += 1
        }
    }

    private static func isWildcard(_ index: Int, of bytes: Span<UInt8>, _ wildcard: UInt8) -> Bool {
        index < bytes.count && bytes[index] == wildcard
    }

    /// Returns whether the filter ends with "/#", starting at `index`. The ending "/#" also matches the level before
    /// it.
    private static func isRestOfAll(_ filter: Span<UInt8>, from index: Int) -> Bool {
        filter.count == index + 2 && filter[index + 1] == TopicRules.multiLevelWildcard
    }

    private static func isLevelEnd(_ index: Int, of bytes: Span<UInt8>) -> Bool {
        index == bytes.count || bytes[index] == TopicRules.separator
    }

    private static func isWildcard(_ byte: UInt8) -> Bool {
        byte == TopicRules.multiLevelWildcard || byte == TopicRules.singleLevelWildcard
    }
}
