import CourierCore
import Foundation
import MQTTCodec
import MQTTEngine
import Synchronization

/// Tells whoever waits, and the events, how a publish ended.
final class PublishEnds: Sendable {
    /// How it ended.
    enum End {
        case success(PublishReceipt)
        /// It ended here, before the session had it.
        case queue(CourierError.Code)
        case session(EngineAction.Failure)
        case refused(PacketReasonCode, PacketProperties)
        case abandoned(CourierError)
    }

    private let ledger: PublishLedger
    private let events: EventHub
    private let completions: CompletionQueue
    private let options = Mutex<ConnectOptions?>(nil)

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

    func use(_ options: ConnectOptions) { self.options.withLock { $0 = options } }

    /// Ends the publish of `token`, if it has not ended. From any thread; app code is called later and elsewhere.
    func end(_ token: Token, with end: End) {
        guard let entry = ledger.take(token) else { return }
        finish(entry, Self.outcome(end, entry.topic))
    }

    /// Forgets a publish whose caller is told by the throwing call itself.
    func withdraw(_ token: Token, _ error: CourierError) {
        guard let entry = ledger.take(token) else { return }
        tell(entry, .failure(error))
    }

    /// Ends everything.
    func endAll(_ error: CourierError) {
        for entry in ledger.takeAll() { finish(entry, .failure(error)) }
    }

    private func finish(_ entry: PublishLedger.Entry, _ outcome: PublishLedger.Outcome) {
        switch entry.recipient {
        case .waiter(let waiter): waiter.resume(outcome.mapError { $0 })
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

    private static func outcome(_ end: End, _ topic: String) -> PublishLedger.Outcome {
        switch end {
        case .success(let receipt): .success(receipt)
        case .abandoned(let error): .failure(error)
        case .session(let failure): .failure(CourierError(failure, of: .message(topic: topic)))
        case .queue(let code): .failure(CourierError(code, queueSentence(code, topic)))
        case .refused(let code, let properties):
            if let error = CourierError(code, properties, of: .message(topic: topic)) {
                .failure(error)
            } else {
                .success(PublishReceipt(code, properties))
            }
        }
    }

    private static func queueSentence(_ code: CourierError.Code, _ topic: String) -> String {
        switch code {
        case .messageReplaced: "The message to \(topic.quoted()) was replaced by a newer one before it was sent."
        case .messageExpired: "The message to \(topic.quoted()) was not sent in the time that it was good for."
        default: "The message to \(topic.quoted()) was given up: too many messages wait for a connection."
        }
    }
}
