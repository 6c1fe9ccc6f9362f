import CourierCore
import MQTTCodec
import MQTTEngine
import TestSupport
import Testing

@testable import CourierMQTT

@Suite struct PublishLedgerTests {
    private static func entry(_ topic: String, payload: [UInt8]? = nil) -> PublishLedger.Entry {
        PublishLedger.Entry(recipient: .nobody, topic: topic, qos: .one, payload: payload)
    }

    /// Takes out what `answers` name, as the loop does.
    private static func take(
        _ answers: [PublishLedger.Answer], from ledger: PublishLedger
    ) -> (calls: [CompletionQueue.Call], freed: PublishLedger.Freed) {
        var (calls, freed) = ([CompletionQueue.Call](), PublishLedger.Freed())
        ledger.take(answers, &calls, &freed)
        return (calls, freed)
    }

    @Test func `a token finds its publish once, and never that which has its place afterwards`() {
        let ledger = PublishLedger()
        let first = ledger.enter(Self.entry("a"))
        #expect(ledger.take(first)?.topic == "a")
        #expect(ledger.take(first) == nil)
        let second = ledger.enter(Self.entry("b"))
        #expect(second != first)
        #expect(ledger.take(first) == nil)
        #expect(Self.take([.init(token: first, code: .success)], from: ledger).freed.others.isEmpty)
        #expect(ledger.take(second)?.topic == "b")
        #expect(ledger.take(PublishLedger.anonymous) == nil)
        #expect(ledger.count == 0)
    }

    @Test func `answers bring completions in their order, and the rest to be told by others`() {
        let ledger = PublishLedger()
        let ends = Series<String>()
        let taken = ledger.enter({ ends.append("taken \($0.success != nil)") }, "a", .one)
        let refused = ledger.enter({ ends.append("refused \($0.failure?.code == .notAuthorized)") }, "b", .one)
        let last = ledger.enter({ ends.append("last \($0.success != nil)") }, "c", .two)
        let listened = ledger.enter(Self.entry("d", payload: [1]))
        let unheard = ledger.enter(Self.entry("e"))
        let (calls, freed) = Self.take(
            [
                .init(token: refused, code: .notAuthorized), .init(token: listened, code: .success),
                .init(token: taken, code: .success), .init(token: unheard, code: .success),
                .init(token: taken, code: .success), .init(token: last, code: .success),
            ], from: ledger)
        for call in calls {
            switch call {
            case .plain(let closure): closure()
            case .answered(let completion, let code): completion(.success(PublishReceipt(code, [])))
            case .done: Issue.record("nothing was called yet")
            }
        }
        #expect(ends.values == ["refused true", "taken true", "last true"])
        #expect(freed.others.map(\.entry.topic) == ["d"])
        #expect(freed.others.first?.entry.payload == [1])
        #expect(freed.tasks.isEmpty)
        #expect(ledger.count == 0)
    }

    @Test func `a task counts as waiting until it is taken out`() async {
        let ledger = PublishLedger()
        let word = await withUnsafeContinuation { (task: PublishLedger.Continuation) in
            let token = ledger.enter(task, "t", .one)
            #expect(ledger.waitingCount == 1)
            let (calls, freed) = Self.take([.init(token: token, code: .noMatchingSubscribers)], from: ledger)
            #expect(calls.isEmpty)
            #expect(ledger.waitingCount == 0)
            for (task, code) in freed.tasks { task.resume(returning: .answered(code)) }
        }
        guard case .answered(.noMatchingSubscribers) = word else {
            Issue.record("it was told \(word)")
            return
        }
    }

    @Test func `taking everything out leaves nothing behind`() {
        let ledger = PublishLedger()
        let tokens = (0..<10).map { ledger.enter(Self.entry("\($0)", payload: [])) }
        for token in tokens.prefix(3) { _ = ledger.take(token) }
        #expect(ledger.takeAll().map(\.topic) == (3..<10).map { "\($0)" })
        #expect(ledger.count == 0)
        #expect(tokens.allSatisfy { ledger.take($0) == nil })
    }

    @Test(arguments: SeededGenerator.seeds)
    func `whatever comes and goes in whatever order, a token means one publish`(_ seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        let ledger = PublishLedger()
        var entered: [Token: String] = [:]
        var gone: [Token] = []
        for step in 0..<5_000 {
            switch random.below(4) {
            case 0, 1:
                let token = ledger.enter(Self.entry("\(step)", payload: []))
                #expect(entered.updateValue("\(step)", forKey: token) == nil && !gone.contains(token))
            case 2:
                guard let token = entered.keys.randomElement(using: &random) else { continue }
                #expect(ledger.take(token)?.topic == entered.removeValue(forKey: token))
                gone.append(token)
            default:
                let answers = entered.keys.shuffled(using: &random).prefix(random.below(5)) + gone.suffix(2)
                let (_, freed) = Self.take(answers.map { .init(token: $0, code: .success) }, from: ledger)
                #expect(freed.others.map(\.entry.topic) == answers.compactMap { entered.removeValue(forKey: $0) })
                gone += answers
            }
            #expect(ledger.count == entered.count)
        }
    }
}
