import CourierCore
import Foundation
import TestSupport
import Testing

/// Random walks through the public API. Each walk can be repeated by its seed. `Scripts/walk` runs many more walks.
@Suite(.timeLimit(.minutes(5))) struct OutgoingWalkTests {
    /// Runs `body` on a separate thread, which `body` may block.
    private static func onThread<Value: Sendable>(
        _ body: @escaping @Sendable (WalkMachine) throws -> Value
    ) async throws -> Value {
        try await withCheckedThrowingContinuation { continuation in
            let thread = Thread {
                continuation.resume(
                    with: Result {
                        let machine = try WalkMachine()
                        defer { machine.shutdown() }
                        return try body(machine)
                    })
            }
            thread.start()
        }
    }

    @Test func `300 random sequences of public API calls violate no rule for outgoing messages`() async throws {
        let broken = try await Self.onThread { machine in
            (1..<301 as Range<UInt64>).lazy.map { machine.walk(seed: $0) }.first { $0.violation != nil }
        }
        guard let broken else { return }
        Issue.record("seed \(broken.seed): \(broken.violation?.description ?? "")\n\(broken.story)")
    }

    @Test func `two random call sequences with the same seed behave equally for at least 27 of 30 seeds`()
        async throws
    {
        let differing = try await Self.onThread { machine in
            (1..<31 as Range<UInt64>).filter { machine.walk(seed: $0).outline != machine.walk(seed: $0).outline }
        }
        // A client with a message store may use tasks on other threads, so some walks can differ.
        #expect(differing.count <= 3, "\(differing)")
    }

    @Test(arguments: WalkFault.Kind.allCases)
    func `random call sequences detect a fault that is injected between client and broker`(
        _ fault: WalkFault.Kind
    ) async throws {
        let found = try await Self.onThread { machine in
            // A walk that already fails without the mistake proves nothing.
            (1..<200 as Range<UInt64>).lazy.filter { machine.walk(seed: $0).violation == nil }
                .compactMap { machine.walk(seed: $0, fault: fault).violation }.first
        }
        #expect(found != nil)
    }

    // MARK: The checker

    /// Changes to a transcript, each of which breaks one rule.
    private static func spoil(_ rule: WalkRules, _ walk: WalkResult) -> [WalkTranscript.Line]? {
        var lines = walk.lines
        func first(where isMeant: (WalkEntry) -> Bool) -> Int? { lines.firstIndex { isMeant($0.entry) } }
        switch rule {
        case .ends:
            guard let end = first(where: { if case .ended = $0 { true } else { false } }) else { return nil }
            lines.insert(lines[end], at: end)
        case .order:
            // The last message of a lane is sent first.
            let sends = lines.indices.filter { if case .sent = lines[$0].entry { true } else { false } }
            for (index, entry) in zip(sends, sends.reversed().map { lines[$0] }) { lines[index] = entry }
        case .limits: lines.removeAll { if case .sent = $0.entry { true } else { false } }
        case .ages:
            lines = lines.map { line in
                guard case .sent = line.entry else { return line }
                return WalkTranscript.Line(time: line.time + .seconds(3_600), entry: line.entry)
            }
        case .endings:
            guard let end = first(where: { if case .ended(_, .failed) = $0 { true } else { false } }),
                case .ended(let number, _) = lines[end].entry
            else { return nil }
            let sent = WalkEntry.sent(number, 9, isDuplicate: true)
            lines.insert(WalkTranscript.Line(time: lines[end].time, entry: sent), at: end + 1)
        case .quota: lines.removeAll { if case .completed = $0.entry { true } else { false } }
        case .repetition:
            guard let sent = first(where: { if case .sent(_, let id, _) = $0 { id > 0 } else { false } }) else {
                return nil
            }
            lines.insert(lines[sent], at: sent + 1)
        default: lines.removeAll { if case .answered = $0.entry { true } else { false } }
        }
        return lines
    }

    @Test(arguments: WalkRules.names.map(\.0))
    func `the checker of random call sequences detects a transcript that breaks a rule`(_ name: String) async throws {
        let rule = try #require(WalkRules.names.first { $0.0 == name }?.1)
        let found = try await Self.onThread { machine in
            (1..<200 as Range<UInt64>).lazy.map { machine.walk(seed: $0, rules: rule) }.filter { $0.violation == nil }
                .compactMap { walk in
                    Self.spoil(rule, walk).flatMap {
                        WalkChecker.violation(in: $0, walk.messages, walk.plan, rule)?.violation
                    }
                }.first
        }
        #expect(found?.rule == rule)
    }
}
