/// Converts any text into a single topic level, and back.
///
/// ASCII letters and digits and `-._~` are unchanged. Every other UTF-8 byte becomes `%` and two hexadecimal digits, as
/// in URLs. The result therefore contains no slash, no wildcard, and no character that a broker may refuse
/// [MQTT-1.5.4-2].
enum TopicLevel {
    private static let digits = Array("0123456789ABCDEF".utf8)

    /// Returns the topic level for a text. The level of an empty text is empty, and the chat must not use it.
    static func escape(_ text: String) -> String {
        var level: [UInt8] = []
        for byte in text.utf8 {
            if isPlain(byte) {
                level.append(byte)
            } else {
                level += [UInt8(ascii: "%"), digits[Int(byte >> 4)], digits[Int(byte & 15)]]
            }
        }
        return String(decoding: level, as: UTF8.self)
    }

    /// Returns the text of a topic level. Returns `nil` for a level that ``escape(_:)`` cannot return, so that each
    /// text has exactly one level.
    static func text(of level: String) -> String? {
        var bytes: [UInt8] = []
        var rest = Array(level.utf8)[...]
        while let byte = rest.popFirst() {
            guard byte == UInt8(ascii: "%") else {
                bytes.append(byte)
                continue
            }
            guard let high = rest.popFirst().flatMap(digits.firstIndex(of:)),
                let low = rest.popFirst().flatMap(digits.firstIndex(of:))
            else { return nil }
            bytes.append(UInt8(high << 4 | low))
        }
        guard let text = String(validating: bytes, as: UTF8.self), escape(text) == level else { return nil }
        return text
    }

    private static func isPlain(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "."), UInt8(ascii: "_"),
            UInt8(ascii: "~"):
            true
        default: false
        }
    }
}
