/// Numbers as C's `atoi` and `atof` read them: as far as they go, and zero where there is none.
///
/// Command lines that scripts have used for years are full of `-q 1 ` and `-k 60s`.
package enum NumberText {
    /// The whole number at the beginning of a text.
    ///
    /// - Parameter text: The text.
    /// - Returns: The number, 0 where there is none; the nearest possible for one that is too large.
    package static func whole(_ text: String) -> Int {
        let text = text.drop { $0.isWhitespace }
        let isNegative = text.hasPrefix("-")
        let digits = (isNegative || text.hasPrefix("+") ? text.dropFirst() : text).prefix { ("0"..."9").contains($0) }
        if digits.isEmpty { return 0 }
        guard let number = Int(digits) else { return isNegative ? .min : .max }
        return isNegative ? -number : number
    }

    /// The decimal number at the beginning of a text.
    ///
    /// - Parameter text: The text.
    /// - Returns: The number, 0 where there is none; the nearest possible for one that is too large.
    package static func decimal(_ text: String) -> Double {
        // Without the letters of "infinity" and "nan", which no option means.
        let text = text.drop { $0.isWhitespace }.prefix { "0123456789+-.eE".contains($0) }
        for end in text.indices.reversed() {
            guard let number = Double(text[...end]) else { continue }
            return number.isFinite ? number : number < 0 ? -.greatestFiniteMagnitude : .greatestFiniteMagnitude
        }
        return 0
    }
}
