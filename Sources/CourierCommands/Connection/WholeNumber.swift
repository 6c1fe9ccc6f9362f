/// Reads numbers as C's `strtoll` does with base 0, but without further text after the number.
enum WholeNumber {
    /// Returns the number: decimal, hexadecimal after `0x`, or octal after `0`. Returns `nil` if the text is not such a
    /// number.
    static func value(_ text: String) -> Int? {
        let sign = text.hasPrefix("-") ? "-" : ""
        let digits = text.hasPrefix("-") || text.hasPrefix("+") ? text.dropFirst() : text[...]
        guard let first = digits.first, first.isHexDigit else { return nil }
        if digits.lowercased().hasPrefix("0x") { return Int(sign + digits.dropFirst(2), radix: 16) }
        if digits.count > 1, first == "0" { return Int(sign + digits.dropFirst(), radix: 8) }
        return Int(sign + digits)
    }
}
