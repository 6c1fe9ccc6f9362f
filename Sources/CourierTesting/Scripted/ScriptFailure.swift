/// The error if a client does not do what a script expects, or if a script cannot be played.
public struct ScriptFailure: Error, Hashable, Sendable, CustomStringConvertible {
    /// The number of the connection, counted from 1; `nil` if the failure belongs to no connection.
    public let connection: Int?

    /// The number of the step in the connection's script, counted from 1; `nil` after the end of the script.
    public let step: Int?

    /// The description of the step; empty without a step.
    public let expectation: String

    /// The event that happened instead of the expected one.
    public let event: String

    /// The failure in a sentence.
    public var description: String {
        let place = connection.map { connection in
            step.map { "connection \(connection), step \($0) (\(expectation)): " } ?? "connection \(connection): "
        }
        return (place ?? "") + event
    }
}
