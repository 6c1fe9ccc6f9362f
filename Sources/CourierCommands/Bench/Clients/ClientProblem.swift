import CourierCore

/// The reason why a client of a bench run cannot be used any more.
enum ClientProblem: Hashable, Sendable {
    /// The connection was not opened, or was lost.
    case connection(ConnectionProblem)
    /// The broker refused a subscription or a message, with this sentence.
    case refusal(String)

    /// Describes a connection that could not be opened or was lost.
    ///
    /// - Parameters:
    ///   - error: The error of the client.
    ///   - isLost: Whether the broker had accepted the connection.
    ///   - isVersion5: Whether the client uses MQTT 5.
    init(_ error: CourierError, isLost: Bool, isVersion5: Bool) {
        if isLost {
            self = .connection(ConnectionProblem(lost: error))
        } else if let refusal = ConnectionWatch.Refusal(error, isVersion5: isVersion5) {
            self = .connection(ConnectionProblem(refusal))
        } else {
            self = .connection(ConnectionProblem(unopened: error))
        }
    }

    /// The exit code if this is the first problem of the run.
    var exitCode: Int32 {
        switch self {
        case .connection(let problem): problem.exitCode
        case .refusal: ExitCode.failure
        }
    }

    /// The problem in one sentence.
    var text: String {
        switch self {
        case .connection(let problem): problem.detail ?? String(problem.line.trimmingPrefix("Error: "))
        case .refusal(let sentence): sentence
        }
    }

    /// Prints the problem.
    func tell(on console: Console) {
        switch self {
        case .connection(let problem): problem.tell(on: console)
        case .refusal(let sentence): console.tell("Error: \(sentence)")
        }
    }
}
