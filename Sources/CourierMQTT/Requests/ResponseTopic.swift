import CourierCore
import CourierTransport
import Dispatch

/// The topic of the responses to one client's requests. It has a reader from the beginning, is subscribed with the first
/// ``subscribe()``, and ends with its last reference.
///
/// A reader owns the subscription, so that a later process does not restore it. All processes of a client id use the same topic,
/// so that an old session at the broker has at most one.
final class ResponseTopic: Sendable {
    /// As whom the client asks.
    let clientID: String
    let filter: TopicFilter
    private let registration: ReaderRegistration
    private let waiterCount: WaiterCount
    private let coordinator: ClientCoordinator

    /// Characters that a topic level cannot contain, and their replacements, so that two clients never share a response topic.
    private static let escapes: [Unicode.Scalar: String] = ["/": "%2F", "+": "%2B", "#": "%23"]

    /// Reads the responses for `clientID`. `answered` is called for each on a separate queue.
    ///
    /// - Throws: If the client id makes the topic too long.
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

    /// A client id as one level of a topic.
    private static func level(_ clientID: String) -> String {
        // No id, and a template, which has a % for each random character, are another id in each process.
        guard !clientID.isEmpty, !clientID.utf8.contains(UInt8(ascii: "%")) else {
            return String(UInt64.random(in: .min ... .max), radix: 36)
        }
        return clientID.unicodeScalars.map { escapes[$0] ?? String($0) }.joined()
    }

    /// Returns when the broker has the subscription, at once if it is known to.
    func subscribe() async throws {
        let waiter = Waiter<QoS>(waiterCount)
        let key = coordinator.subscribe(registration, to: filter, .one) { waiter.resume($0.mapError { $0 }) }
        _ = try await waiter.value { [coordinator] in coordinator.forgetSubscriptionWaiter(key) }
    }
}
