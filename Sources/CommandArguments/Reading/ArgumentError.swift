/// The error for a command line that cannot be used: a message and an optional hint.
package struct ArgumentError: Error, Hashable, Sendable, CustomStringConvertible {
    /// The error message, as one sentence.
    package let message: String

    /// A sentence that tells the user what to do. If it is `nil`, the program refers to its help instead.
    package let hint: String?

    /// The number of empty lines that a program prints between the message and the hint.
    package let blankLines: Int

    /// Creates an error.
    ///
    /// - Parameters:
    ///   - message: The error message, as one sentence.
    ///   - hint: A sentence that tells the user what to do; `nil` by default.
    ///   - blankLines: The number of empty lines between the message and the hint; 1 by default.
    package init(_ message: String, hint: String? = nil, blankLines: Int = 1) {
        self.message = message
        self.hint = hint
        self.blankLines = blankLines
    }

    /// The message, followed by the hint if there is one.
    package var description: String { hint.map { "\(message) \($0)" } ?? message }
}
