/// What a ``ScriptedBroker`` does on one connection.
public struct ConnectionScript: Sendable {
    /// The steps, in order.
    public let steps: [ScriptStep]

    /// The script of one connection; the first of a list is for the first connection that a client makes, and so on.
    ///
    /// - Parameter steps: The steps, in order; without any, the broker is well-behaved.
    /// - Returns: The script.
    public static func connection(_ steps: [ScriptStep] = []) -> ConnectionScript { ConnectionScript(steps: steps) }

    private init(steps: [ScriptStep]) { self.steps = steps }
}
