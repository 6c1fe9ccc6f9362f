import CourierCore
import Foundation

/// Brings the messages of one reader to one subscription of a message publisher, decoded and delivered on the delivery
/// queue.
final class QueueDelivery<Output: Sendable>: Sendable {
    /// How many messages one turn of the queue delivers at most, so that other work of the queue gets its turn.
    static var messagesPerTurn: Int { 256 }

    private let queue: ReaderQueue
    private let place: DispatchQueue
    private let transform: @Sendable (ReceivedMessage) -> Output?
    private let receive: AnyPublisher<Output, Never>.Receive

    /// Delivers the messages of `queue` on `place`, converted by `transform`. If `transform` returns `nil`, the message is left
    /// out.
    init(
        _ queue: ReaderQueue, on place: DispatchQueue, transform: @escaping @Sendable (ReceivedMessage) -> Output?,
        receive: @escaping AnyPublisher<Output, Never>.Receive
    ) {
        self.queue = queue
        self.place = place
        self.transform = transform
        self.receive = receive
    }

    /// Delivers the waiting messages, and then waits for more. Called once, from any thread.
    func start() { takeTurn() }

    private func takeTurn() { place.async { [self] in deliver() } }

    private func deliver() {
        switch queue.take(atMost: Self.messagesPerTurn) {
        case .messages(let slices):
            let (transform, receive) = (transform, receive)  // Once for all of them.
            for slice in slices {
                for message in slice {
                    guard queue.claim() else { return }
                    if let value = transform(message) { receive(.value(value)) }
                }
            }
            slices.acknowledge()
            takeTurn()
        case .nothing: if !queue.wake({ [self] in takeTurn() }) { takeTurn() }
        case .ended: if queue.claim() { receive(.completion(.finished)) }  // Who has left is told nothing.
        }
    }
}
