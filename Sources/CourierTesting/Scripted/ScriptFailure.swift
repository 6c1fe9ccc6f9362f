/// A client that did not do what a script expects, or a script that cannot be played.
public struct ScriptFailure: Error, Hashable, Sendable, CustomStringConvertible {
    /// The number of the connection, counted from 1; `nil` when it is about none.
    public let connection: Int?

    /// The number of the step in the connection's script, counted from 1; `nil` behind the script's end.
    public let step: Int?

    /// What the step was to do; empty without a step.
    public let expectation: String

    /// What happened instead.
    public let event: String

    /// All of it in a sentence.
    public var description: String {
        let place = connection.map { connection in
            step.map { "connection \(connection), step \($0) (\(expectation)): " } ?? "connection \(connection): "
        }
        return (place ?? "") + event
    }
}
