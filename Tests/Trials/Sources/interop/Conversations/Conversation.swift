/// One thing that clients and a broker do together: a row of the matrix.
struct Conversation: Sendable {
    /// What it is called in the matrix.
    let name: String
    /// What it makes no sense without; nothing if `nil`.
    let need: Ability?
    /// Returns when all was as it should be.
    private let hold: @Sendable (Meeting) async throws -> Void

    init(_ name: String, need: Ability? = nil, hold: @escaping @Sendable (Meeting) async throws -> Void) {
        self.name = name
        self.need = need
        self.hold = hold
    }

    /// Those that do not disturb each other.
    static let calm = connecting + messages + version5 + sessions
    /// Those that end the connections of others.
    static let disruptive = restarts
    /// All of them, in the order of the matrix.
    static let all = calm + disruptive

    /// Holds it; it has failed when it lasts longer than `patience`.
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

/// How a conversation ended.
enum Verdict: Sendable {
    case passed
    /// It was not held, and why.
    case notApplicable(String)
    case failed(String)

    var hasFailed: Bool { if case .failed = self { true } else { false } }
}
