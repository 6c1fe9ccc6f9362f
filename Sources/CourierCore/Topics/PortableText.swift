/// The rules for texts that every common broker accepts. These rules are stricter than the rules of MQTT.
///
/// MQTT allows control characters, topics with any number of levels, and noncharacters (code points that Unicode
/// reserves, such as U+FFFE). However, MQTT also allows brokers to end the connection because of such a text (MQTT 5.0
/// §1.5.4, §4.7.3). For example, the broker mosquitto ends the connection.
package enum PortableText {
    /// The maximum number of `/` in a topic name or filter. If there are more, mosquitto 2.0 ends the connection.
    package static let maximumSeparators = 200

    /// True if the text contains no control character and no noncharacter (a code point that Unicode reserves, such as
    /// U+FFFE).
    package static func isPortable(_ text: String) -> Bool {
        isPrintableASCII(text) || !text.unicodeScalars.contains(where: isForbidden)
    }

    /// True if a broker may end the connection because a text contains this character.
    package static func isForbidden(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.value {
        case 0x00...0x1F, 0x7F...0x9F, 0xFDD0...0xFDEF: true
        default: scalar.value & 0xFFFE == 0xFFFE  // The last two code points of each plane.
        }
    }

    /// Returns the end of an error sentence that reports the first forbidden character and its position; `nil` if there
    /// is no such character. The caller puts the name of the text before this end.
    package static func problem(of text: String) -> String? {
        if isPrintableASCII(text) { return nil }
        for (index, scalar) in text.unicodeScalars.enumerated() where isForbidden(scalar) {
            return "contains \(name(of: scalar)) as its character \(index + 1); "
                + "brokers such as mosquitto end the connection because of such a character"
        }
        return nil
    }

    /// Returns the same as `problem(of:)` for a topic name or filter, and also checks the number of levels.
    package static func topicProblem(of text: String) -> String? {
        problem(of: text) ?? depthProblem(of: text)
    }

    /// True if a topic name or filter has no forbidden character and not too many levels.
    package static func isPortableTopic(_ text: String) -> Bool {
        isPortable(text) && (text.utf8.count <= maximumSeparators || depthProblem(of: text) == nil)
    }

    /// True if the text is a topic name of 1 to 200 printable ASCII characters that does not begin with `$`. Such a
    /// name is legal and portable. If the result is `false`, the name may still be legal. The check runs for each
    /// message, so it reads the text only once.
    package static func isPlainTopicName(_ text: String) -> Bool {
        text.withUTF8Bytes { bytes in
            guard bytes.byteCount > 0, bytes.byteCount <= maximumSeparators else { return false }
            if bytes.unsafeLoad(as: UInt8.self) == UInt8(ascii: "$") { return false }
            return allWords(of: bytes) { arePrintableASCII($0) && !TopicRules.hasWildcardOrNull($0) }
        }
    }

    private static func depthProblem(of text: String) -> String? {
        guard text.utf8.count > maximumSeparators else { return nil }
        let count = text.utf8.count { $0 == TopicRules.separator }
        guard count > maximumSeparators else { return nil }
        return "has \(count + 1) levels; "
            + "brokers such as mosquitto end the connection because of more than \(maximumSeparators + 1) levels"
    }

    private static func name(of scalar: Unicode.Scalar) -> String {
        let digits = String(scalar.value, radix: 16, uppercase: true)
        let number = "U+" + String(repeating: "0", count: max(0, 4 - digits.count)) + digits
        return scalar.properties.generalCategory == .control
            ? "the control character \(number)" : "the non-character \(number)"
    }

    /// True if all bytes are from 0x20 to 0x7E. This quick check reads eight bytes at a time.
    private static func isPrintableASCII(_ text: String) -> Bool {
        text.withUTF8Bytes { bytes in allWords(of: bytes) { arePrintableASCII($0) } }
    }

    /// Returns whether `isGood` accepts every group of eight bytes of the text. A text of less than eight bytes is
    /// padded with spaces.
    @inline(__always)
    private static func allWords(of bytes: RawSpan, _ isGood: (UInt64) -> Bool) -> Bool {
        let count = bytes.byteCount
        guard count >= 8 else {
            var word: UInt64 = 0x2020_2020_2020_2020
            for index in 0..<count {  // `index` is less than `count`, so the unchecked load is safe.
                word = word << 8 | UInt64(bytes.unsafeLoad(fromByteOffset: index, as: UInt8.self))
            }
            return isGood(word)
        }
        var index = 0
        while index < count {
            // The last group of eight bytes ends at the end of the text. It may overlap the previous group.
            let start = min(index, count - 8)
            if !isGood(bytes.unsafeLoadUnaligned(fromByteOffset: start, as: UInt64.self)) { return false }
            index += 8
        }
        return true
    }

    /// True if all eight bytes are from 0x20 to 0x7E. If a byte is outside this range, its highest bit is set: in
    /// `bytes` for values from 0x80, in the sum for values from 0x7F, and in the difference for values below 0x20. A
    /// carry or borrow changes a neighboring byte only if another byte is outside the range, so the result stays
    /// correct.
    private static func arePrintableASCII(_ bytes: UInt64) -> Bool {
        let above = bytes | (bytes &+ 0x0101_0101_0101_0101)
        let below = bytes &- 0x2020_2020_2020_2020
        return (above | below) & 0x8080_8080_8080_8080 == 0
    }
}
