/// Checks whether text can be a host: a name or an address.
enum HostText {
    /// The maximum length of a DNS name as text, in bytes (RFC 1035, section 3.1).
    static let limit = 253

    /// Returns whether `text` can be a host: a name, or an address without brackets. Spaces, control characters and URL
    /// delimiters are not allowed, because they could end the host early.
    static func isPlausible(_ text: String) -> Bool {
        (1...limit).contains(text.utf8.count)
            && text.unicodeScalars.allSatisfy { scalar in
                scalar.value > 0x20 && scalar.value != 0x7F && !scalar.properties.isWhitespace
                    && !"/\\?#@[]\"<>".unicodeScalars.contains(scalar)
            }
    }

    /// Returns whether `text` is a host name of ASCII letters, digits, `-`, `_` and `.`, which every resolver accepts.
    static func isPlainName(_ text: String) -> Bool {
        (1...limit).contains(text.utf8.count)
            && text.utf8.allSatisfy { byte in
                switch byte {
                case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                    UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "_"), UInt8(ascii: "."):
                    true
                default: false
                }
            }
    }
}
