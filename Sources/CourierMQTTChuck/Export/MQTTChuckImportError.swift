/// Why a recording cannot be read, and in which line.
public struct MQTTChuckImportError: Error, Hashable, Sendable {
    /// The line, counted from 1.
    public let line: Int

    /// What is wrong with it.
    public let message: String
}

extension MQTTChuckImportError: CustomStringConvertible {
    /// The sentence with the line.
    public var description: String { "line \(line): \(message)" }
}
