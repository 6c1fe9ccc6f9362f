import CourierCore
import Foundation
import MQTTCodec
import MQTTEngine
import Synchronization

/// Tells whoever waits, and the events, how a publish ended.
///
/// Safe to share: `answers`, `calls` and `freed` are touched on the loop only, which their functions are called on; the ledger and
/// the options have locks, the rest is constant.
final class PublishEnds: @unchecked Sendable {
    /// How it ended.
    enum End {
        case success(PublishReceipt)
        /// It ended here, before the session had it.
        case queue(CourierError.Code)
        case session(EngineAction.Failure)
        case refused(PacketReasonCode, PacketProperties)
        case abandoned(CourierError)
    }

    /// For how many answers memory is kept while there are none.
    private static let keptCount = 128

    private let ledger: PublishLedger
    private let events: EventHub
    private let completions: CompletionQueue
    private let options = Mutex<ConnectOptions?>(nil)

    // MARK: On the loop only

    /// What the broker has answered since the last ``tellAnswers()``.
    private var answers: [PublishLedger.Answer] = []
    /// What these have to tell completions, while ``tellAnswers()`` runs; and the memory for it.
    private var calls: [CompletionQueue.Call] = []
    /// What else these have freed.
    private var freed = PublishLedger.Freed()

    init(_ ledger: PublishLedger, _ events: EventHub, _ completions: CompletionQueue) {
        self.ledger = ledger
        self.events = events
        self.completions = completions
    }

    /// Whether events are told, and payloads kept for them.
    var isListenedTo: Bool { events.isListenedTo }

    /// Tells that a message is on its way.
    func began(_ topic: String, _ qos: QoS, _ byteCount: Int) {
        guard events.isListenedTo else { return }
        events.tell(.messageSend(topic: topic, qos: qos, sizeBytes: byteCount), options.withLock { $0 })
    }

    /// Tells that a message has ended whose payload nobody has any more; whoever waits for it is told otherwise.
    func failed(_ topic: String, _ qos: QoS, _ byteCount: Int, _ error: CourierError) {
        events.tell(
            .messageSendFailure(topic: topic, qos: qos, error: error, sizeBytes: byteCount), options.withLock { $0 })
    }

    func use(_ options: ConnectOptions) { self.options.withLock { $0 = options } }

    /// Ends the publish of `token`, if it has not ended. From any thread; app code is called later and elsewhere.
    func end(_ token: Token, with end: End) {
        guard let entry = ledger.take(token) else { return }
        finish(entry, Self.outcome(end, entry.topic))
    }

    /// Notes that the broker has answered a publish, to be told with others. On the loop.
    func answered(_ token: Token, _ code: PacketReasonCode) {
        guard token != PublishLedger.anonymous else { return }
        answers.append(PublishLedger.Answer(token: token, code: code))
    }

    /// Ends the publishes that were answered: with one turn of the delivery queue. On the loop.
    func tellAnswers() {
        guard !answers.isEmpty else { return }
        // Out of the fields, which are checked for exclusive access each time.
        var (answers, calls, freed) = ([PublishLedger.Answer](), [CompletionQueue.Call](), PublishLedger.Freed())
        swap(&answers, &self.answers)
        swap(&calls, &self.calls)
        swap(&freed, &self.freed)
        ledger.take(answers, &calls, &freed)
        completions.add(&calls)
        for (task, code) in freed.tasks { task.resume(returning: .answered(code)) }
        for (entry, code) in freed.others { finish(entry, Self.outcome(.refused(code, []), entry.topic)) }
        freed.removeAll(keeping: Self.keptCount)
        answers.removeAll(keepingCapacity: answers.capacity <= Self.keptCount)
        if self.answers.isEmpty { swap(&answers, &self.answers) }
        if calls.capacity <= Self.keptCount { swap(&calls, &self.calls) }
        swap(&freed, &self.freed)
    }

    /// Tells a completion whose publish was not entered. From any thread.
    func tell(_ completion: @escaping PublishLedger.Completion, _ code: PacketReasonCode) {
        completions.add(.answered(completion, code))
    }

    /// Forgets a publish whose caller is told by the throwing call itself; `false` if it has ended, and was told,
    /// before.
    @discardableResult
    func withdraw(_ token: Token, _ error: CourierError) -> Bool {
        guard token != PublishLedger.anonymous else { return true }
        guard let entry = ledger.take(token) else { return false }
        tell(entry, .failure(error))
        return true
    }

    /// Ends publishes that were taken out of the ledger. From any thread.
    func end(_ entries: [PublishLedger.Entry], with end: End) {
        for entry in entries { finish(entry, Self.outcome(end, entry.topic)) }
    }

    private func finish(_ entry: PublishLedger.Entry, _ outcome: PublishLedger.Outcome) {
        switch entry.recipient {
        case .waiter(let waiter): waiter.resume(outcome.mapError { $0 })
        case .task(let task): task.resume(returning: .ended(outcome))
        case .completion(let completion): completions.add(completion, outcome)
        case .nobody: break
        }
        tell(entry, outcome)
    }

    private func tell(_ entry: PublishLedger.Entry, _ outcome: PublishLedger.Outcome) {
        guard let payload = entry.payload else { return }
        let options = options.withLock { $0 }
        switch outcome {
        case .success:
            events.tell(
                .messageSendSuccess(
                    topic: entry.topic, qos: entry.qos, sizeBytes: payload.count, data: Data(payload)), options)
        case .failure(let error):
            events.tell(
                .messageSendFailure(topic: entry.topic, qos: entry.qos, error: error, sizeBytes: payload.count), options
            )
        }
    }

    static func outcome(_ end: End, _ topic: String) -> PublishLedger.Outcome {
        switch end {
        case .success(let receipt): .success(receipt)
        case .abandoned(let error): .failure(error)
        case .session(let failure): .failure(CourierError(failure, of: .message(topic: topic)))
        case .queue(let code): .failure(queueError(code, topic))
        case .refused(let code, let properties):
            if let error = CourierError(code, properties, of: .message(topic: topic)) {
                .failure(error)
            } else {
                .success(PublishReceipt(code, properties))
            }
        }
    }

    /// Why a message ended in the queue.
    static func queueError(_ code: CourierError.Code, _ topic: String) -> CourierError {
        let sentence =
            switch code {
            case .messageReplaced: "The message to \(topic.quoted()) was replaced by a newer one before it was sent."
            case .messageExpired: "The message to \(topic.quoted()) was not sent in the time that it was good for."
            case .clientDestroyed: "The client was destroyed before the message to \(topic.quoted()) was sent."
            default: "The message to \(topic.quoted()) was given up: more messages wait than `offline` allows."
            }
        return CourierError(code, sentence)
    }
}
