/// The rules for texts that every common broker accepts. They are stricter than MQTT's own.
///
/// MQTT allows control characters, non-characters and topics of any depth, and also allows a broker to end the
/// connection for some of them (MQTT 5.0 §1.5.4, §4.7.3). mosquitto does.
package enum PortableText {
    /// The most `/` in a topic name or filter. mosquitto 2.0 ends the connection for one with more.
    package static let maximumSeparators = 200

    /// True when no character of the text is a control character or a non-character.
    package static func isPortable(_ text: String) -> Bool {
        isPrintableASCII(text) || !text.unicodeScalars.contains(where: isForbidden)
    }

    /// True when a broker may end the connection for this character.
    package static func isForbidden(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.value {
        case 0x00...0x1F, 0x7F...0x9F, 0xFDD0...0xFDEF: true
        default: scalar.value & 0xFFFE == 0xFFFE  // The last two code points of each plane.
        }
    }

    /// The end of a sentence that begins with the text's name and says which character is forbidden, and where; `nil`
    /// when none is.
    package static func problem(of text: String) -> String? {
        if isPrintableASCII(text) { return nil }
        for (index, scalar) in text.unicodeScalars.enumerated() where isForbidden(scalar) {
            return "contains \(name(of: scalar)) as its character \(index + 1); brokers such as mosquitto end the "
                + "connection for that"
        }
        return nil
    }

    /// The same for a topic name or filter, whose depth counts as well.
    package static func topicProblem(of text: String) -> String? {
        problem(of: text) ?? depthProblem(of: text)
    }

    /// True when a topic name or filter has no forbidden character and not too many levels.
    package static func isPortableTopic(_ text: String) -> Bool {
        isPortable(text) && (text.utf8.count <= maximumSeparators || depthProblem(of: text) == nil)
    }

    /// True when the text is a legal topic name of at most 200 printable ASCII characters that does not begin with `$`, which
    /// is both legal and portable: the quick check for each message. It reads the text once.
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
        return "has \(count + 1) levels; brokers such as mosquitto end the connection for more than "
            + "\(maximumSeparators + 1)"
    }

    private static func name(of scalar: Unicode.Scalar) -> String {
        let digits = String(scalar.value, radix: 16, uppercase: true)
        let number = "U+" + String(repeating: "0", count: max(0, 4 - digits.count)) + digits
        return scalar.properties.generalCategory == .control
            ? "the control character \(number)" : "the non-character \(number)"
    }

    /// True when all bytes are from 0x20 to 0x7E: the quick check, eight bytes at a time.
    private static func isPrintableASCII(_ text: String) -> Bool {
        text.withUTF8Bytes { bytes in allWords(of: bytes) { arePrintableASCII($0) } }
    }

    /// Checks a text eight bytes at a time. A text of fewer bytes is filled up with spaces.
    @inline(__always)
    private static func allWords(of bytes: RawSpan, _ isGood: (UInt64) -> Bool) -> Bool {
        let count = bytes.byteCount
        guard count >= 8 else {
            var word: UInt64 = 0x2020_2020_2020_2020
            for index in 0..<count {  // Below the count.
                word = word << 8 | UInt64(bytes.unsafeLoad(fromByteOffset: index, as: UInt8.self))
            }
            return isGood(word)
        }
        var index = 0
        while index < count {
            let start = min(index, count - 8)  // The last eight bytes end where the text ends.
            if !isGood(bytes.unsafeLoadUnaligned(fromByteOffset: start, as: UInt64.self)) { return false }
            index += 8
        }
        return true
    }

    /// The highest bit of a byte is set by the byte itself from 0x80, by the sum from 0x7F, and by the difference
    /// below 0x20. A carry or borrow between bytes only happens behind such a byte.
    private static func arePrintableASCII(_ bytes: UInt64) -> Bool {
        let above = bytes | (bytes &+ 0x0101_0101_0101_0101)
        let below = bytes &- 0x2020_2020_2020_2020
        return (above | below) & 0x8080_8080_8080_8080 == 0
    }
}
