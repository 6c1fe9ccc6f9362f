import CourierCore
import Foundation
import Synchronization

/// Matches responses with their requests by correlation data (MQTT 5, 4.10). All responses arrive on one topic of this
/// client.
final class PendingRequests: Sendable {
    /// The maximum number of requests that wait for their responses at the same time.
    static let limit = 10_000

    /// A request that waits for its response.
    private struct Request {
        let response: Waiter<ReceivedMessage>
        /// The topic of the response; `nil` until the client id is known.
        var topic: ResponseTopic?
        var stage = RequestStage.connecting
    }

    private struct State {
        var requests: [Data: Request] = [:]
        var lastNumber: UInt64 = 0
        /// The response topic for the next request; `nil` if the next request must create the topic.
        var topic: ResponseTopic?
    }

    private let state = Mutex(State())
    /// The first bytes of this process's correlation data. Responses to an earlier process arrive on the same topic,
    /// but their correlation data begins with other bytes.
    private let mark = UInt64.random(in: .min ... .max)
    private let waiterCount: WaiterCount
    private let coordinator: ClientCoordinator

    init(_ coordinator: ClientCoordinator, waiterCount: WaiterCount) {
        self.waiterCount = waiterCount
        self.coordinator = coordinator
    }

    /// The number of requests that wait for their responses.
    var waitingCount: Int { state.withLock { $0.requests.count } }

    /// The stages of the requests that wait for their responses, for tests.
    var stages: [RequestStage] { state.withLock { $0.requests.values.map(\.stage) } }

    /// Adds a request. Returns `nil` if too many requests wait already. Otherwise the caller must call ``end(_:)``
    /// later.
    func begin() -> (correlation: Data, response: Waiter<ReceivedMessage>)? {
        let waiter = Waiter<ReceivedMessage>(waiterCount)
        return state.withLock { state in
            guard state.requests.count < Self.limit else { return nil }
            state.lastNumber += 1
            let correlation = withUnsafeBytes(of: (mark.bigEndian, state.lastNumber.bigEndian)) { Data($0) }
            state.requests[correlation] = Request(response: waiter)
            return (correlation, waiter)
        }
    }

    /// Returns the response topic of a request. The topic stays subscribed while the request waits for its response.
    func topic(for clientID: String, of correlation: Data) throws -> ResponseTopic {
        // Return the former topic, too, so that the object is released after the lock. When it is released, it
        // unsubscribes the topic.
        let topics = try state.withLock { state -> (present: ResponseTopic, former: ResponseTopic?) in
            let former = state.topic
            let present: ResponseTopic
            if let former, TopicRules.sameBytes(former.clientID, clientID) {
                present = former
            } else {
                present = try ResponseTopic(for: clientID, waiterCount: waiterCount, coordinator) {
                    [weak self] message in
                    self?.received(message)
                }
                state.topic = present
            }
            state.requests[correlation]?.topic = present
            return (present, former)
        }
        return topics.present
    }

    /// Records the stage that a request has reached.
    func note(_ stage: RequestStage, of correlation: Data) {
        state.withLock { $0.requests[correlation]?.stage = stage }
    }

    /// Returns the stage of a request; `nil` if the request has ended.
    func stage(of correlation: Data) -> RequestStage? { state.withLock { $0.requests[correlation]?.stage } }

    /// Stops using a response topic for further requests. The topic is unsubscribed when no request uses it any more.
    func giveUp(_ topic: ResponseTopic) {
        state.withLock { state in if state.topic === topic { state.topic = nil } }
    }

    /// Removes a request, because its caller does not wait any more.
    func end(_ correlation: Data) { _ = state.withLock { $0.requests.removeValue(forKey: correlation) } }

    /// Ends all requests, because the session is destroyed. The next request subscribes again.
    func endAll(_ error: CourierError) {
        let ended = state.withLock { state in
            defer { (state.requests, state.topic) = ([:], nil) }
            return (requests: state.requests, topic: state.topic)
        }
        for request in ended.requests.values { request.response.resume(.failure(error)) }
    }

    /// Passes a response to its request. If no request waits for the response, ignores it: the response is too late, or
    /// belongs to another process.
    private func received(_ message: ReceivedMessage) {
        guard let correlation = message.properties.correlationData else { return }
        let request = state.withLock { $0.requests.removeValue(forKey: correlation) }
        request?.response.resume(.success(message))
    }
}
