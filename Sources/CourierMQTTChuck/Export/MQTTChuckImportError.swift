/// The reason why a recording cannot be read, and the line with the error.
public struct MQTTChuckImportError: Error, Hashable, Sendable {
    /// The number of the line, counted from 1.
    public let line: Int

    /// A description of the error in the line.
    public let message: String
}

extension MQTTChuckImportError: CustomStringConvertible {
    /// The line number and the message.
    public var description: String { "line \(line): \(message)" }
}
