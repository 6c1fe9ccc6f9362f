/// The rules that topic names and filters have in common, and the error texts for broken rules.
package enum TopicRules {
    /// The maximum length of a topic name or filter in bytes of UTF-8. This is the largest number that fits into the
    /// two-byte length field of a packet [MQTT-4.7.3-3].
    static let maximumLength = 65_535

    static let separator = UInt8(ascii: "/")
    static let singleLevelWildcard = UInt8(ascii: "+")
    static let multiLevelWildcard = UInt8(ascii: "#")
    static let sharePrefix = "$share/"

    /// Returns whether the text is a legal topic name. This quick check gives no reason.
    static func isLegalName(_ text: String) -> Bool { text.withUTF8Bytes { isLegalName($0) } }

    @inline(__always)
    private static func isLegalName(_ bytes: RawSpan) -> Bool {
        let count = bytes.byteCount
        guard count > 0, count <= maximumLength else { return false }
        guard count >= 8 else {
            for index in 0..<count where isWildcardOrNull(bytes.unsafeLoad(fromByteOffset: index, as: UInt8.self)) {
                return false
            }
            return true
        }
        var index = 0
        while index < count {
            // Check eight bytes at a time. The last group ends at the end of the text, and may overlap the previous
            // group.
            let start = min(index, count - 8)
            if hasWildcardOrNull(bytes.unsafeLoadUnaligned(fromByteOffset: start, as: UInt64.self)) { return false }
            index += 8
        }
        return true
    }

    /// Returns whether the text begins like the filter of a shared subscription [MQTT-4.8.2-1].
    static func isShared(_ text: String) -> Bool {
        text.utf8.first == UInt8(ascii: "$") && text.utf8.starts(with: sharePrefix.utf8)
    }

    static func isWildcardOrNull(_ byte: UInt8) -> Bool {
        byte == 0 || byte == singleLevelWildcard || byte == multiLevelWildcard
    }

    /// Returns whether one of the eight bytes is 0, `+` or `#`. The codes of `+` and `#` differ only in the bit 0x08,
    /// so one comparison finds both.
    static func hasWildcardOrNull(_ bytes: UInt64) -> Bool {
        let wildcards = (bytes | 0x0808_0808_0808_0808) ^ 0x2B2B_2B2B_2B2B_2B2B
        return (hasZero(bytes) || hasZero(wildcards))
    }

    /// Returns whether one of the eight bytes is 0. If a byte is 0, subtracting 1 sets the highest bit of this byte. If
    /// no byte is 0, no highest bit changes from 0 to 1.
    private static func hasZero(_ bytes: UInt64) -> Bool {
        (bytes &- 0x0101_0101_0101_0101) & ~bytes & 0x8080_8080_8080_8080 != 0
    }

    /// Returns the end of an error sentence if the text breaks a common rule of names and filters; `nil` otherwise.
    static func lengthOrNullProblem(of text: String) -> String? {
        let length = text.utf8.count
        if length == 0 { return "is empty; it needs at least one character" }  // [MQTT-4.7.3-1]
        if length > maximumLength { return "has \(length) bytes of UTF-8; at most \(maximumLength) are allowed" }
        if text.utf8.contains(0) { return "contains U+0000, which MQTT does not allow" }  // [MQTT-4.7.3-2]
        return nil
    }

    /// Returns the end of an error sentence if the text cannot be a single level of a topic; `nil` otherwise.
    static func levelProblem(of value: String) -> String? {
        if value.isEmpty { return "is empty, and a level needs at least one character" }
        let forbidden = value.utf8.first { byte in
            byte == separator || byte == singleLevelWildcard || byte == multiLevelWildcard || byte == 0
        }
        guard let forbidden else { return nil }
        let name = forbidden == 0 ? "U+0000" : "'\(Unicode.Scalar(forbidden))'"
        return "contains \(name), which is not allowed inside a level; remove or escape that character"
    }

    /// Returns whether the UTF-8 bytes are equal. MQTT distinguishes composed and decomposed é in topics and client
    /// ids, but Swift's `==` does not.
    package static func sameBytes(_ left: String, _ right: String) -> Bool { left.utf8.elementsEqual(right.utf8) }
}
