import TrialSupport

/// Breaks promises of processors on purpose, and checks that each is reported.
struct ProcessingSelfTest {
    private struct Story {
        let name: String
        /// The kind of finding that the ledger must report; `nil` if none.
        let found: Findings.Kind?
        var lane = JobLane.all[0]
        /// The numbers of messages that are parked at the end.
        var parked: Set<Int> = []
        /// The notes of the worker: the life, the event, and the number of the message.
        let notes: [(Int, JobNote.Event, Int)]
    }

    /// The number of kills in each real run.
    private static let kills = 8
    private static let unorderedQoS2 = JobLane.all[1]
    private static let ordered = JobLane.all[JobLane.all.count / 2]

    /// Returns the names of the stories that were judged wrongly.
    func failures() async throws -> [String] {
        var failures = stories.filter { story in
            let findings = Findings(isQuiet: true)
            let ledger = JobLedger(Releases(), findings)
            let message = { JobMessage(lane: story.lane, number: $0) }
            for number in Set(story.notes.map(\.2)).union(story.parked) { ledger.sent(message(number)) }
            for (life, event, number) in story.notes { ledger.noted(JobNote(event, message(number), life: life)) }
            ledger.judge(parked: Set(story.parked.map(message)))
            return Findings.Kind.allCases.contains { findings[$0] != ($0 == story.found ? 1 : 0) }
        }.map(\.name)
        if try await find(.lost, with: .jobless) == 0 { failures.append("a store that does not store jobs") }
        if try await find(.doubled, with: .repeating) == 0 { failures.append("a store that keeps handled jobs") }
        return failures
    }

    /// Runs a short test with a broken store, and returns the number of findings of a kind.
    private func find(_ kind: Findings.Kind, with store: StoreKind) async throws -> Int {
        let run = try await ProcessingRun(
            CrashRun.Settings(
                seconds: 60, kills: Self.kills, seed: 7, store: store, patience: .seconds(3), isQuiet: true))
        try await run.run()
        run.clean()
        return run.findings[kind]
    }

    private var stories: [Story] {
        [
            Story(
                name: "a message is handled, and another is parked", found: nil, parked: [1],
                notes: [(0, .storing, 0), (0, .handled, 0), (0, .recorded, 0), (0, .storing, 1), (0, .parked, 1)]),
            Story(name: "a message is stored only", found: .lost, notes: [(0, .storing, 0)]),
            Story(
                name: "a parked message is gone", found: .lost,
                notes: [(0, .storing, 0), (0, .parked, 0), (1, .foundParked, 0)]),
            Story(
                name: "a message is handled again after a kill before its success was recorded", found: nil,
                notes: [(0, .storing, 0), (0, .handled, 0), (1, .found, 0), (1, .handled, 0), (1, .recorded, 0)]),
            Story(
                name: "a message is handled twice by one process", found: .doubled,
                notes: [(0, .storing, 0), (0, .handled, 0), (0, .handled, 0)]),
            Story(
                name: "a message is in the store after its success was recorded", found: .doubled,
                notes: [(0, .storing, 0), (0, .handled, 0), (0, .recorded, 0), (1, .found, 0)]),
            Story(
                name: "a message is handled after its success was recorded", found: .doubled,
                notes: [(0, .storing, 0), (0, .handled, 0), (0, .recorded, 0), (0, .handled, 0)]),
            Story(
                name: "a QoS 1 message is sent again", found: nil,
                notes: [
                    (0, .storing, 0), (0, .handled, 0), (0, .recorded, 0), (1, .storing, 0), (1, .handled, 0),
                    (1, .recorded, 0),
                ]),
            Story(
                name: "a message is sent again, and the next process is killed before it has read all jobs", found: nil,
                parked: [0],
                notes: [
                    (0, .storing, 0), (0, .parked, 0), (1, .foundParked, 0), (1, .storing, 0), (2, .foundParked, 0),
                    (3, .foundParked, 0), (3, .found, 0), (3, .handled, 0), (3, .recorded, 0),
                ]),
            Story(
                name: "a QoS 2 message is sent again", found: .doubled, lane: Self.unorderedQoS2,
                notes: [(0, .storing, 0), (0, .handled, 0), (0, .recorded, 0), (1, .storing, 0)]),
            Story(
                name: "a copy is not recognized", found: .doubled, lane: Self.ordered,
                notes: [(0, .storing, 0), (0, .handled, 0), (0, .recorded, 0), (1, .storing, 0)]),
            Story(
                name: "a copy of a parked message is handled", found: nil, lane: Self.ordered, parked: [0],
                notes: [(0, .storing, 0), (0, .parked, 0), (1, .storing, 0), (1, .handled, 0)]),
            Story(
                name: "two messages change places", found: .disordered, lane: Self.ordered,
                notes: [(0, .storing, 0), (0, .storing, 1), (0, .handled, 1), (0, .handled, 0)]),
        ]
    }
}
