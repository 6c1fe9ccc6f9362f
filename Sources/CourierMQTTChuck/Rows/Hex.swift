/// Formats bytes as hexadecimal text.
enum Hex {
    private static let digits = Array("0123456789ABCDEF".utf8)

    /// Returns two hex digits per byte, without spaces.
    static func text(_ bytes: some Collection<UInt8>) -> String {
        var text: [UInt8] = []
        text.reserveCapacity(bytes.count * 2)
        for byte in bytes {
            text.append(digits[Int(byte >> 4)])
            text.append(digits[Int(byte & 15)])
        }
        return String(decoding: text, as: UTF8.self)
    }

    /// Returns lines with offset, hex and ASCII. A line has `count` bytes, sixteen by default.
    static func dump(_ bytes: some Collection<UInt8>, perLine count: Int = 16) -> String {
        let bytes = Array(bytes)
        return stride(from: 0, to: bytes.count, by: count).map { start in
            let line = bytes[start..<min(start + count, bytes.count)]
            let hex = line.map { text([$0]) }.joined(separator: " ")
            let ascii = String(decoding: line.map { $0 >= 0x20 && $0 < 0x7F ? $0 : UInt8(ascii: ".") }, as: UTF8.self)
            let offset = String(start, radix: 16)
            return String(repeating: "0", count: max(0, 6 - offset.count)) + offset + "  " + hex
                + String(repeating: " ", count: count * 3 + 1 - hex.count) + ascii
        }.joined(separator: "\n")
    }
}
