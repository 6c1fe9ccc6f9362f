/// The reason why a query cannot be parsed, and the place of the error.
public struct MQTTChuckQueryError: Error, Hashable, Sendable {
    /// The text of the query.
    public let query: String

    /// The column of the first wrong character, counted from 1.
    public let column: Int

    /// One sentence that says what is wrong and what would be right.
    public let message: String

    /// The query with a mark below the wrong column, for a terminal.
    public var pointer: String { "\(query)\n\(String(repeating: " ", count: column - 1))^ \(message)" }
}

extension MQTTChuckQueryError: CustomStringConvertible {
    /// The column and the message.
    public var description: String { "column \(column): \(message)" }
}
