import CourierCore
import Foundation
import Synchronization

/// Ties answers to the questions they belong to (MQTT 5, 4.10): all come on one topic of this client's own.
final class PendingRequests: Sendable {
    /// How many questions may wait for their answers at a time.
    static let limit = 10_000

    /// A question that waits for its answer.
    private struct Question {
        let answer: Waiter<ReceivedMessage>
        /// The topic of the response, once the client id is known.
        var topic: ResponseTopic?
        var stage = RequestStage.connecting
    }

    private struct State {
        var questions: [Data: Question] = [:]
        var lastNumber: UInt64 = 0
        /// Where the answers to the next questions come, from the first question on.
        var topic: ResponseTopic?
    }

    private let state = Mutex(State())
    /// Begins all correlation data: the answers to what an earlier process has asked come on the same topic.
    private let mark = UInt64.random(in: .min ... .max)
    private let waiterCount: WaiterCount
    private let coordinator: ClientCoordinator

    init(_ coordinator: ClientCoordinator, waiterCount: WaiterCount) {
        self.waiterCount = waiterCount
        self.coordinator = coordinator
    }

    /// How many questions wait for their answers.
    var waitingCount: Int { state.withLock { $0.questions.count } }

    /// How far the questions have come that wait for their answers, for tests.
    var stages: [RequestStage] { state.withLock { $0.questions.values.map(\.stage) } }

    /// Adds a request; `nil` if too many wait. The caller must call ``end(_:)``.
    func begin() -> (correlation: Data, answer: Waiter<ReceivedMessage>)? {
        let waiter = Waiter<ReceivedMessage>(waiterCount)
        return state.withLock { state in
            guard state.questions.count < Self.limit else { return nil }
            state.lastNumber += 1
            let correlation = withUnsafeBytes(of: (mark.bigEndian, state.lastNumber.bigEndian)) { Data($0) }
            state.questions[correlation] = Question(answer: waiter)
            return (correlation, waiter)
        }
    }

    /// Where the answer to a question comes that this client asks; the topic stays as long as the question waits.
    func topic(for clientID: String, of correlation: Data) throws -> ResponseTopic {
        // The former topic is returned, because it must not be released under the lock.
        let topics = try state.withLock { state -> (present: ResponseTopic, former: ResponseTopic?) in
            let former = state.topic
            let present: ResponseTopic
            if let former, TopicRules.sameBytes(former.clientID, clientID) {
                present = former
            } else {
                present = try ResponseTopic(for: clientID, waiterCount: waiterCount, coordinator) {
                    [weak self] message in
                    self?.answered(message)
                }
                state.topic = present
            }
            state.questions[correlation]?.topic = present
            return (present, former)
        }
        return topics.present
    }

    /// The question has come this far.
    func note(_ stage: RequestStage, of correlation: Data) {
        state.withLock { $0.questions[correlation]?.stage = stage }
    }

    /// The stage of a request; `nil` if its caller does not wait any more.
    func stage(of correlation: Data) -> RequestStage? { state.withLock { $0.questions[correlation]?.stage } }

    /// The next request uses another topic. This topic ends with its last reference.
    func giveUp(_ topic: ResponseTopic) {
        state.withLock { state in if state.topic === topic { state.topic = nil } }
    }

    /// The caller of the request does not wait any more.
    func end(_ correlation: Data) { _ = state.withLock { $0.questions.removeValue(forKey: correlation) } }

    /// The session is given up: no question is answered in it, and the next one subscribes again.
    func endAll(_ error: CourierError) {
        let ended = state.withLock { state in
            defer { (state.questions, state.topic) = ([:], nil) }
            return (questions: state.questions, topic: state.topic)
        }
        for question in ended.questions.values { question.answer.resume(.failure(error)) }
    }

    /// Hands an answer to its question. One to no question is too late, or not ours.
    private func answered(_ message: ReceivedMessage) {
        guard let correlation = message.properties.correlationData else { return }
        let question = state.withLock { $0.questions.removeValue(forKey: correlation) }
        question?.answer.resume(.success(message))
    }
}
