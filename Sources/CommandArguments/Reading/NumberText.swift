/// Parses numbers like C's `atoi` and `atof`: text after the number is ignored, and text without a number is 0.
///
/// Existing scripts contain values such as `-q 1 ` and `-k 60s`, so such values must remain valid.
package enum NumberText {
    /// Returns the whole number at the start of a text.
    ///
    /// - Parameter text: The text, which may start with white space.
    /// - Returns: The number, or 0 if the text does not start with a number. A number that is out of range becomes the
    ///   nearest possible value.
    package static func whole(_ text: String) -> Int {
        let text = text.drop { $0.isWhitespace }
        let isNegative = text.hasPrefix("-")
        let digits = (isNegative || text.hasPrefix("+") ? text.dropFirst() : text).prefix { ("0"..."9").contains($0) }
        if digits.isEmpty { return 0 }
        guard let number = Int(digits) else { return isNegative ? .min : .max }
        return isNegative ? -number : number
    }

    /// Returns the decimal number at the start of a text.
    ///
    /// - Parameter text: The text, which may start with white space.
    /// - Returns: The number, or 0 if the text does not start with a number. A number that is out of range becomes the
    ///   nearest possible value.
    package static func decimal(_ text: String) -> Double {
        // Only characters of decimal numbers are parsed, so that "infinity" and "nan" do not count as numbers.
        let text = text.drop { $0.isWhitespace }.prefix { "0123456789+-.eE".contains($0) }
        for end in text.indices.reversed() {
            guard let number = Double(text[...end]) else { continue }
            return number.isFinite ? number : number < 0 ? -.greatestFiniteMagnitude : .greatestFiniteMagnitude
        }
        return 0
    }
}
