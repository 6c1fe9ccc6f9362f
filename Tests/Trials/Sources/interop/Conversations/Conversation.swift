/// One test of clients with a broker: a row of the matrix.
struct Conversation: Sendable {
    /// The conversation's name in the matrix.
    let name: String
    /// The ability that the broker must have; `nil` if none. Without it, the conversation is not applicable.
    let need: Ability?
    /// Runs the conversation. Throws if a check fails.
    private let hold: @Sendable (Meeting) async throws -> Void

    init(_ name: String, need: Ability? = nil, hold: @escaping @Sendable (Meeting) async throws -> Void) {
        self.name = name
        self.need = need
        self.hold = hold
    }

    /// The conversations that can run at the same time.
    static let calm = connecting + messages + version5 + sessions
    /// The conversations that end the connections of other conversations.
    static let disruptive = restarts
    /// All conversations, in the order of the matrix.
    static let all = calm + disruptive

    /// Runs the conversation and returns its verdict. It fails if it takes longer than `patience`.
    func verdict(with broker: any Broker, by way: Way, patience: Duration) async -> Verdict {
        if let need, let reason = broker.lacks[need] ?? way.lacks[need] { return .notApplicable(reason) }
        let meeting = Meeting(broker, way)
        let verdict = await verdict(at: meeting, patience)
        await meeting.end()
        return verdict
    }

    private func verdict(at meeting: Meeting, _ patience: Duration) async -> Verdict {
        do {
            try await withThrowingTaskGroup(of: Bool.self) { group in
                group.addTask {
                    try await hold(meeting)
                    return true
                }
                group.addTask {
                    try await Task.sleep(for: patience)
                    return false
                }
                defer { group.cancelAll() }
                let isOver = try await group.next() ?? false
                try check(isOver, "not over after \(patience); \(meeting.state)")
            }
            return .passed
        } catch {
            return .failed("\(error)")
        }
    }
}

/// The result of a conversation.
enum Verdict: Sendable {
    case passed
    /// The conversation did not run, for this reason.
    case notApplicable(String)
    case failed(String)

    var hasFailed: Bool { if case .failed = self { true } else { false } }
}
