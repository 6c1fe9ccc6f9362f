import CourierCore

/// One client of a bench run, with the state of its connection.
///
/// Safe to share: mutable state is used only on the queue of the run.
final class BenchClient: @unchecked Sendable {
    /// Whether the client publishes or subscribes.
    enum Role: Hashable, Sendable { case publisher, subscriber }

    /// The state of the connection: `connecting → ready → lost`, or `connecting → failed`.
    enum Phase: Hashable, Sendable {
        case connecting
        /// The broker accepted the connection, and also the subscription of a subscriber.
        case ready
        /// The connection could not be opened, or the broker refused the subscription.
        case failed
        /// The connection was lost after the broker had accepted it.
        case lost
    }

    let role: Role
    /// The index among the clients with the same role.
    let index: Int
    let client: any CourierClient
    /// The time when the attempt to connect began, on the clock of ``BenchClock``.
    let begunAt = BenchClock.now
    var phase = Phase.connecting
    /// True if the broker has accepted the connection.
    var isOpen = false
    /// True if the broker has accepted the subscription. A publisher needs no subscription.
    var isSubscribed: Bool
    /// Receives the broker's answers to all messages of this publisher. It is `nil` at QoS 0. It is also `nil` if the
    /// time of each answer is measured, because each message then has its own closure.
    var answered: (@Sendable (Result<PublishReceipt, CourierError>) -> Void)?
    var cancellables: [AnyCancellable] = []

    init(_ role: Role, _ index: Int, _ client: any CourierClient) {
        self.role = role
        self.index = index
        self.client = client
        isSubscribed = role == .publisher
    }
}
