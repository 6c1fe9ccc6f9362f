import CourierCore
import CourierTransport
import Foundation
import Synchronization

/// Ties answers to the questions they belong to (MQTT 5, 4.10): all come on one topic of this client's own.
final class RequestDesk: Sendable {
    /// How many questions may wait for their answers at a time.
    static let limit = 10_000

    private struct State {
        var waiting: [Data: Waiter<ReceivedMessage>] = [:]
        var lastNumber: UInt64 = 0
        /// The topic on which answers come, from the first question on.
        var topic: String?
    }

    private let state = Mutex(State())
    private let census: WaiterCensus
    private let loop: EventLoop
    private let distributor: MessageDistributor

    init(_ distributor: MessageDistributor, census: WaiterCensus, on loop: EventLoop) {
        self.census = census
        self.loop = loop
        self.distributor = distributor
    }

    /// How many questions wait for their answers.
    var waitingCount: Int { state.withLock { $0.waiting.count } }

    /// The topic of this client's answers, which is to be subscribed to.
    func topic(for identity: ConnectionIdentity) -> String {
        let (topic, isNew) = state.withLock { state in
            if let topic = state.topic { return (topic, false) }
            // Two clients of one id must not read each other's answers, and a level can not hold what an id can.
            let level = identity.clientID.filter {
                $0.isASCII && ($0.isLetter || $0.isNumber || $0 == "-" || $0 == "_")
            }
            let topic = "courier/answers/\(level)/\(String(UInt64.random(in: .min ... .max), radix: 36))"
            state.topic = topic
            return (topic, true)
        }
        if isNew { read(topic) }
        return topic
    }

    /// Takes up a question; `nil` when too many wait. It is to be ended by ``end(_:)``.
    func begin() -> (correlation: Data, answer: Waiter<ReceivedMessage>)? {
        let waiter = Waiter<ReceivedMessage>(census)
        return state.withLock { state in
            guard state.waiting.count < Self.limit else { return nil }
            state.lastNumber += 1
            let correlation = withUnsafeBytes(of: state.lastNumber.bigEndian) { Data($0) }
            state.waiting[correlation] = waiter
            return (correlation, waiter)
        }
    }

    /// Nobody waits for this answer any more.
    func end(_ correlation: Data) { state.withLock { $0.waiting[correlation] = nil } }

    /// Hands each answer to its question. An answer to no question is too late, or not ours.
    private func read(_ topic: String) {
        guard let filter = try? TopicFilter(topic) else { return }
        let registration = ReaderRegistration(ReadBuffer(), distributor, on: loop)
        QueueDelivery<Never>(registration.queue, on: DispatchQueue(label: "courier.answers")) { [weak self] message in
            self?.answered(message)
            return nil
        } receive: { _ in
        }.start()
        loop.execute { registration.open(filter, .onReceipt) }
    }

    private func answered(_ message: ReceivedMessage) {
        guard let correlation = message.properties.correlationData else { return }
        let waiter = state.withLock { $0.waiting.removeValue(forKey: correlation) }
        waiter?.resume(.success(message))
    }
}
