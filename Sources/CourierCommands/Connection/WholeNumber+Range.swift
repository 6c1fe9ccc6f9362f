import CommandArguments

extension WholeNumber {
    /// Reads a decimal number within a range, without further text.
    ///
    /// - Parameters:
    ///   - text: The typed text.
    ///   - range: The allowed range.
    ///   - name: The name of the value in error messages.
    /// - Returns: The number.
    /// - Throws: ``ArgumentError`` if the text is not a number or is out of range.
    static func value(_ text: String, in range: ClosedRange<Int>, of name: String) throws(ArgumentError) -> Int {
        guard let number = Int(text), range.contains(number) else {
            throw ArgumentError(
                "Invalid \(name) \"\(text)\".", hint: "Give a number from \(range.lowerBound) to \(range.upperBound).")
        }
        return number
    }
}
