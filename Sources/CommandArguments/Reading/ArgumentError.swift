/// Why a command line can not be used: one line, and what to do about it.
package struct ArgumentError: Error, Hashable, Sendable, CustomStringConvertible {
    /// What is wrong, as a sentence.
    package let message: String

    /// What to do, as a sentence; `nil` leaves it to the program, which names its help.
    package let hint: String?

    /// Joins the two.
    ///
    /// - Parameters:
    ///   - message: What is wrong.
    ///   - hint: What to do; `nil` by default.
    package init(_ message: String, hint: String? = nil) {
        self.message = message
        self.hint = hint
    }

    /// The message, and the hint if there is one.
    package var description: String { hint.map { "\(message) \($0)" } ?? message }
}
