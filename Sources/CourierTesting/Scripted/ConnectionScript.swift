/// The steps of a ``ScriptedBroker`` on one connection.
public struct ConnectionScript: Sendable {
    /// The steps, first to last.
    public let steps: [ScriptStep]

    /// Makes the script of one connection. In a list of scripts, the first script is for the first connection, the
    /// second script for the second connection, and so on.
    ///
    /// - Parameter steps: The steps, first to last. Without steps, the broker behaves correctly.
    /// - Returns: The script.
    public static func connection(_ steps: [ScriptStep] = []) -> ConnectionScript { ConnectionScript(steps: steps) }

    private init(steps: [ScriptStep]) { self.steps = steps }
}
