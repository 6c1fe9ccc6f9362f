import CourierCore
import Foundation
import MQTTCodec
import MQTTEngine
import Synchronization

/// Reports the results of publishes to their callers, and as events.
///
/// `@unchecked Sendable` is safe: `answered` is used on the event loop only. All other properties are constant or have
/// a lock.
final class PublishResults: @unchecked Sendable {
    /// The maximum capacity of a list whose memory is kept for the next batch of answers, 128 results. The memory of
    /// larger lists is freed.
    private static let keptCount = 128

    private let queue: OutgoingQueue
    private let events: EventHub
    private let completions: CompletionQueue
    /// Removes the row of a message that ended. May be called from any thread.
    private let removeRow: @Sendable (EndedRow) -> Void
    /// The connect options that events contain.
    private let options = Mutex<ConnectOptions?>(nil)

    /// The results of messages that the broker answered. Between calls, the lists are empty, and only their memory is
    /// reused. Used on the event loop only.
    private var answered = OutgoingQueue.Answered()

    init(
        _ queue: OutgoingQueue, _ events: EventHub, _ completions: CompletionQueue,
        removeRow: @escaping @Sendable (EndedRow) -> Void
    ) {
        self.queue = queue
        self.events = events
        self.completions = completions
        self.removeRow = removeRow
    }

    /// True if there is a listener for events.
    var isObserved: Bool { events.isListenedTo }

    func use(_ options: ConnectOptions) { self.options.withLock { $0 = options } }

    // MARK: Answers of the broker

    /// Reports the broker's answers to messages. Adds all completions to the delivery queue in one step. Runs on the
    /// event loop. `now` is the time when the answers arrived.
    func report(_ answers: [OutgoingQueue.Answer], now: ContinuousClock.Instant) {
        // Use a local variable, because each access to the property would cost a check for exclusive access.
        var answered = OutgoingQueue.Answered()
        swap(&answered, &self.answered)
        queue.acknowledged(answers, now: MonotonicInstant(now), &answered)
        completions.add(&answered.calls)
        for (task, code) in answered.tasks { task.resume(returning: .acknowledged(code)) }
        for row in answered.rows { removeRow(row) }
        events.tell(&answered.events, options.withLock { $0 })
        report(answered.failures)
        answered.removeAll(keeping: Self.keptCount)
        swap(&answered, &self.answered)
    }

    // MARK: Results

    /// Reports the results of messages that ended. May be called from any thread. Code of the app does not run inside
    /// this call.
    func report(_ ended: [EndedPublish]) {
        guard !ended.isEmpty else { return }
        var types: [CourierEventType] = []
        for one in ended {
            if let row = one.row { removeRow(row) }
            let outcome = Self.outcome(of: one)
            switch one.recipient {
            case .nobody: break
            case .completion(let completion): completions.add(completion, outcome)
            case .task(let task), .acceptance(let task): task.resume(returning: .ended(outcome))
            }
            if let payload = one.payload {
                types.append(Self.event(outcome, one.topic, one.qos, one.byteCount, payload))
            }
        }
        if !types.isEmpty { events.tell(&types, options.withLock { $0 }) }
    }

    /// Reports, as an event, the result of a message that has no entry in the queue.
    func report(_ outcome: PublishOutcome, of publish: borrowing OutgoingPublish, payload: RawSpan) {
        guard publish.isObserved else { return }
        let event = Self.event(
            outcome, publish.topic, publish.qos, payload.byteCount, payload.withUnsafeBytes { Data($0) })
        events.tell(event, options.withLock { $0 })
    }

    /// Calls the completion of a message that has ended, on the delivery queue.
    func call(_ completion: @escaping PublishCompletion, _ outcome: PublishOutcome) {
        if case .success(let receipt) = outcome, receipt == PublishReceipt() {
            completions.add(.answered(completion, .success))
        } else {
            completions.add(completion, outcome)
        }
    }

    private static func event(
        _ outcome: PublishOutcome, _ topic: String, _ qos: QoS, _ byteCount: Int, _ payload: Data
    ) -> CourierEventType {
        switch outcome {
        case .success: .messageSendSuccess(topic: topic, qos: qos, sizeBytes: byteCount, data: payload)
        case .failure(let error): .messageSendFailure(topic: topic, qos: qos, error: error, sizeBytes: byteCount)
        }
    }

    // MARK: Events

    /// Reports the event `messageSend` for a message.
    func began(_ topic: String, _ qos: QoS, _ byteCount: Int) {
        guard events.isListenedTo else { return }
        events.tell(.messageSend(topic: topic, qos: qos, sizeBytes: byteCount), options.withLock { $0 })
    }

    /// Reports, as an event, the failure of a message that was never in the queue.
    func failed(_ topic: String, _ qos: QoS, _ byteCount: Int, _ error: CourierError) {
        events.tell(
            .messageSendFailure(topic: topic, qos: qos, error: error, sizeBytes: byteCount), options.withLock { $0 })
    }

    // MARK: Error texts

    private static func outcome(of ended: EndedPublish) -> PublishOutcome {
        let topic = ended.topic
        switch ended.cause {
        case .acknowledged(let code, let properties):
            if let error = CourierError(code, properties, of: .message(topic: topic)) { return .failure(error) }
            return .success(PublishReceipt(code, properties))
        case .engine(let failure): return .failure(CourierError(failure, of: .message(topic: topic)))
        case .connectionLost: return .failure(CourierError(.connectionLost, of: .message(topic: topic)))
        case .clientEnded(let error), .failed(let error), .rejected(let error): return .failure(error)
        case .expired:
            return .failure(
                CourierError(
                    .messageExpired, "The message to \(topic.quoted()) expired before it was sent."))
        case .replaced:
            return .failure(
                CourierError(
                    .messageReplaced,
                    "The message to \(topic.quoted()) was replaced by a newer message before it was sent."))
        case .withdrawn:
            return .failure(
                CourierError(.messageWithdrawn, "The message to \(topic.quoted()) was withdrawn before it was sent."))
        case .destroyed: return .failure(destroyed(topic))
        case .dropped: return .failure(dropped(topic))
        }
    }

    static func dropped(_ topic: String) -> CourierError {
        CourierError(
            .queueFull,
            "The message to \(topic.quoted()) was dropped by the policy `offline.overflow`, "
                + "because the limit `offline.maximumCount` or `offline.maximumBytes` was reached. "
                + "Send fewer messages, or raise the limit that was reached.")
    }

    static func destroyed(_ topic: String) -> CourierError {
        CourierError(
            .clientDestroyed, "The client was destroyed before the message to \(topic.quoted()) was sent.")
    }
}
