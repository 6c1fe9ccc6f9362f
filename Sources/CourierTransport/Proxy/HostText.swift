/// What can be sent to another program as a host.
enum HostText {
    /// The longest name that DNS has (RFC 1035, section 3.1), in bytes of text.
    static let limit = 253

    /// Whether `text` can be a host: a name, or an address without brackets, that ends where it seems to end.
    static func isPlausible(_ text: String) -> Bool {
        (1...limit).contains(text.utf8.count)
            && text.unicodeScalars.allSatisfy { scalar in
                scalar.value > 0x20 && scalar.value != 0x7F && !scalar.properties.isWhitespace
                    && !"/\\?#@[]\"<>".unicodeScalars.contains(scalar)
            }
    }

    /// Whether `text` is a host name in the letters that every resolver takes.
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
