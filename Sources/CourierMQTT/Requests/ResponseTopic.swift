import CourierCore
import CourierTransport
import Dispatch

/// The topic of the responses to one client's requests. The first ``subscribe()`` subscribes to the topic. When this
/// object is released, the topic is unsubscribed.
///
/// The subscription belongs to a reader. A later process does not restore it, because only subscriptions of the app are
/// restored. All processes with the same client id use the same topic. So earlier processes leave at most one such
/// subscription in the broker's session.
final class ResponseTopic: Sendable {
    /// The client id of the client that sends the requests.
    let clientID: String
    let filter: TopicFilter
    private let registration: ReaderRegistration
    private let waiterCount: WaiterCount
    private let coordinator: ClientCoordinator

    /// Characters that a topic level cannot contain, and their replacements. Each character has its own replacement, so
    /// that different client ids give different topics.
    private static let escapes: [Unicode.Scalar: String] = ["/": "%2F", "+": "%2B", "#": "%23"]

    /// Creates the topic for `clientID`, and reads its responses. `answered` is called for each response, on a dispatch
    /// queue of this object.
    ///
    /// - Throws: An error if the client id makes the topic too long.
    init(
        for clientID: String, waiterCount: WaiterCount, _ coordinator: ClientCoordinator,
        answered: @escaping @Sendable (ReceivedMessage) -> Void
    ) throws {
        filter = try TopicFilter("courier/answers/\(Self.level(clientID))")
        self.clientID = clientID
        self.waiterCount = waiterCount
        self.coordinator = coordinator
        registration = ReaderRegistration(ReadBuffer(), coordinator.distributor, on: coordinator.loop)
        QueueDelivery<Never>(registration.queue, on: DispatchQueue(label: "courier.answers")) { message in
            answered(message)
            return nil
        } receive: { _ in
        }.start()
    }

    deinit {
        let left = registration.queue.close().worthKeeping
        coordinator.loop.execute { [coordinator, registration] in coordinator.closed(registration, left) }
    }

    /// Returns the topic level that represents a client id.
    private static func level(_ clientID: String) -> String {
        // If the client id is empty or a template (with `%`), each process gets another client id. In this case, use a
        // random level.
        guard !clientID.isEmpty, !clientID.utf8.contains(UInt8(ascii: "%")) else {
            return String(UInt64.random(in: .min ... .max), radix: 36)
        }
        return clientID.unicodeScalars.map { escapes[$0] ?? String($0) }.joined()
    }

    /// Subscribes to the topic. Returns when the broker has granted the subscription, or at once if it was granted
    /// before.
    func subscribe() async throws {
        let waiter = Waiter<QoS>(waiterCount)
        let key = coordinator.subscribe(registration, to: filter, .one) { waiter.resume($0.mapError { $0 }) }
        _ = try await waiter.value { [coordinator] in coordinator.forgetSubscriptionWaiter(key) }
    }
}
