import CommandArguments

extension WholeNumber {
    /// A decimal number within a range, and nothing else.
    ///
    /// - Parameters:
    ///   - text: What was typed.
    ///   - range: What is allowed.
    ///   - name: What an error calls it.
    /// - Returns: The number.
    /// - Throws: That it is none, or out of range.
    static func value(_ text: String, in range: ClosedRange<Int>, of name: String) throws(ArgumentError) -> Int {
        guard let number = Int(text), range.contains(number) else {
            throw ArgumentError(
                "Invalid \(name) \"\(text)\".", hint: "Give a number from \(range.lowerBound) to \(range.upperBound).")
        }
        return number
    }
}
