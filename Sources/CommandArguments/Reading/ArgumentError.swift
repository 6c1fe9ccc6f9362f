/// Why a command line cannot be used: one line, and what to do about it.
package struct ArgumentError: Error, Hashable, Sendable, CustomStringConvertible {
    /// What is wrong, as a sentence.
    package let message: String

    /// What to do, as a sentence; `nil` leaves it to the program, which names its help.
    package let hint: String?

    /// How many empty lines a program prints between the message and the hint.
    package let blankLines: Int

    /// Joins the message and the hint.
    ///
    /// - Parameters:
    ///   - message: What is wrong.
    ///   - hint: What to do; `nil` by default.
    ///   - blankLines: The number of empty lines between the message and the hint; 1 by default.
    package init(_ message: String, hint: String? = nil, blankLines: Int = 1) {
        self.message = message
        self.hint = hint
        self.blankLines = blankLines
    }

    /// The message, and the hint if there is one.
    package var description: String { hint.map { "\(message) \($0)" } ?? message }
}
