/// The reason why the text of a ``FaultRule`` cannot be read, and the place of the mistake.
public struct FaultRuleError: Error, Hashable, Sendable {
    /// The text of the rule.
    public let text: String

    /// The column of the first wrong character, counted from 1.
    public let column: Int

    /// One sentence that says what is wrong and what would be right.
    public let message: String
}

extension FaultRuleError: CustomStringConvertible {
    /// The column and the message.
    public var description: String { "column \(column): \(message)" }
}
