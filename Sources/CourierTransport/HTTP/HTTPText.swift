import COpenSSL

extension StringProtocol {
    /// True if the text is an HTTP token, such as a field name (RFC 9110, section 5.6.2).
    var isHTTPToken: Bool {
        !isEmpty
            && utf8.allSatisfy { byte in
                switch byte {
                case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                    UInt8(ascii: "0")...UInt8(ascii: "9"):
                    true
                default: "!#$%&'*+-.^_`|~".utf8.contains(byte)
                }
            }
    }
}

extension Substring {
    /// The text without spaces and tabs at both ends.
    ///
    /// Bytes are compared, because Swift joins a space and a following combining mark into one `Character`.
    var trimmingBlanks: Substring {
        var bytes = utf8
        while let first = bytes.first, first == 32 || first == 9 { bytes.removeFirst() }
        while let last = bytes.last, last == 32 || last == 9 { bytes.removeLast() }
        return Substring(bytes)
    }

    /// The text with each `%XX` replaced by its byte. The result is `nil` if a percent sign is not followed by two
    /// hexadecimal digits, or if the bytes are not UTF-8.
    var percentDecoded: String? {
        func hexDigit(_ byte: UInt8) -> UInt8? { Character(Unicode.Scalar(byte)).hexDigitValue.map(UInt8.init) }
        var bytes: [UInt8] = []
        var rest = utf8
        while let byte = rest.popFirst() {
            guard byte == UInt8(ascii: "%") else {
                bytes.append(byte)
                continue
            }
            guard let high = rest.popFirst().flatMap(hexDigit), let low = rest.popFirst().flatMap(hexDigit) else {
                return nil
            }
            bytes.append(high << 4 | low)
        }
        return String(validating: bytes, as: UTF8.self)
    }
}

/// Encodes bytes as Base64 (RFC 4648, section 4).
enum Base64 {
    static func text(_ bytes: [UInt8]) -> String {
        // The array is one byte longer than the text, because OpenSSL writes a NUL byte after the text.
        var text = [UInt8](repeating: 0, count: (bytes.count + 2) / 3 * 4 + 1)
        let count = EVP_EncodeBlock(&text, bytes, Int32(bytes.count))
        return String(decoding: text.prefix(Int(count)), as: UTF8.self)
    }
}
