import CourierCore
import CourierTransport
import Dispatch

/// The topic on which the answers to one client's questions come: read from the beginning, subscribed to with the first
/// ``subscribe()``, and neither any more once nobody refers to it.
///
/// A reader owns the subscription, so that a later process does not want it, and a client id has one in all processes, so that a
/// session of the broker that nobody has tidied up holds no more than one.
final class ResponseTopic: Sendable {
    /// As whom the client asks.
    let clientID: String
    let filter: TopicFilter
    private let registration: ReaderRegistration
    private let waiterCount: WaiterCount
    private let coordinator: ClientCoordinator

    /// What a level cannot hold, and what stands for it: two clients must not read each other's answers.
    private static let escapes: [Unicode.Scalar: String] = ["/": "%2F", "+": "%2B", "#": "%23"]

    /// Reads the answers to what `clientID` asks; `answered` is told of each on a queue of its own.
    ///
    /// - Throws: When the client id makes too long a topic.
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
