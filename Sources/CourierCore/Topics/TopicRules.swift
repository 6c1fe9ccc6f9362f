/// The rules that topic names and filters share, and the sentences that say which one was broken.
enum TopicRules {
    /// The longest topic name or filter, in bytes of UTF-8: the length field has two bytes [MQTT-4.7.3-3].
    static let maximumLength = 65_535

    static let separator = UInt8(ascii: "/")
    static let singleLevelWildcard = UInt8(ascii: "+")
    static let multiLevelWildcard = UInt8(ascii: "#")

    /// Whether the text is a legal topic name: the quick answer, for the many that are.
    static func isLegalName(_ text: String) -> Bool {
        text.utf8.withContiguousStorageIfAvailable { bytes in
            guard !bytes.isEmpty, bytes.count <= maximumLength else { return false }
            for byte in bytes where byte == singleLevelWildcard || byte == multiLevelWildcard || byte == 0 {
                return false
            }
            return true
        } ?? false
    }

    /// What is wrong with the text as far as names and filters share it, `nil` when nothing is.
    static func lengthOrNullProblem(of text: String) -> String? {
        let length = text.utf8.count
        if length == 0 { return "is empty; it needs at least one character" }  // [MQTT-4.7.3-1]
        if length > maximumLength { return "has \(length) bytes of UTF-8; at most \(maximumLength) are allowed" }
        if text.utf8.contains(0) { return "contains U+0000, which MQTT does not allow" }  // [MQTT-4.7.3-2]
        return nil
    }

    /// Why the text can not stand as a single level of a topic, `nil` when it can.
    static func levelProblem(of value: String) -> String? {
        if value.isEmpty { return "is empty, and a level needs at least one character" }
        let forbidden = value.utf8.first { byte in
            byte == separator || byte == singleLevelWildcard || byte == multiLevelWildcard || byte == 0
        }
        guard let forbidden else { return nil }
        let name = forbidden == 0 ? "U+0000" : "'\(Unicode.Scalar(forbidden))'"
        return "contains \(name), which would let it out of its level; remove or escape that character"
    }

    /// Equality by bytes: composed and decomposed é are different topics, although Swift's `==` calls them equal.
    static func sameBytes(_ left: String, _ right: String) -> Bool { left.utf8.elementsEqual(right.utf8) }
}
