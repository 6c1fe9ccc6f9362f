/// Why a query cannot be read, and where.
public struct MQTTChuckQueryError: Error, Hashable, Sendable {
    /// The query.
    public let query: String

    /// The column of the first character that is wrong, counted from 1.
    public let column: Int

    /// What is wrong and what would be right, in a sentence.
    public let message: String

    /// The query with a mark below the place, for a terminal.
    public var pointer: String { "\(query)\n\(String(repeating: " ", count: column - 1))^ \(message)" }
}

extension MQTTChuckQueryError: CustomStringConvertible {
    /// The sentence with the column.
    public var description: String { "column \(column): \(message)" }
}
