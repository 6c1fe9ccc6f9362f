import CourierCore
import Foundation

/// Decodes the messages of one reader, and delivers them to one subscriber of a message publisher, on the delivery
/// queue.
final class QueueDelivery<Output: Sendable>: Sendable {
    /// The largest number of messages that one block on the dispatch queue delivers. Between two such blocks, other
    /// blocks on the queue can run.
    static var messagesPerTurn: Int { 256 }

    private let queue: ReaderQueue
    private let place: DispatchQueue
    private let tracing: MessageTracing?
    private let transform: @Sendable (ReceivedMessage) -> Output?
    private let receive: AnyPublisher<Output, Never>.Receive

    /// Creates an object that delivers the messages in `queue` on the dispatch queue `place`. `transform` converts each
    /// message for the subscriber. If `transform` returns `nil`, the message is skipped. `tracing` chooses the trace
    /// context in which the subscriber handles a message.
    init(
        _ queue: ReaderQueue, on place: DispatchQueue, tracing: MessageTracing? = nil,
        transform: @escaping @Sendable (ReceivedMessage) -> Output?,
        receive: @escaping AnyPublisher<Output, Never>.Receive
    ) {
        self.queue = queue
        self.place = place
        self.tracing = tracing
        self.transform = transform
        self.receive = receive
    }

    /// Delivers the waiting messages, and then waits for more. Called once, from any thread.
    func start() { takeTurn() }

    private func takeTurn() { place.async { [self] in deliver() } }

    private func deliver() {
        switch queue.take(atMost: Self.messagesPerTurn) {
        case .messages(let slices):
            // Read these properties of the object once, and not for each message.
            let (tracing, transform, receive) = (tracing, transform, receive)
            for slice in slices {
                for message in slice {
                    guard queue.claim() else { return }
                    guard let value = transform(message) else { continue }
                    if let tracing, let context = tracing.context(of: message) {
                        TraceContext.$current.withValue(context) { receive(.value(value)) }
                    } else {
                        receive(.value(value))
                    }
                }
            }
            slices.acknowledge()
            takeTurn()
        case .nothing: if !queue.wake({ [self] in takeTurn() }) { takeTurn() }
        // If the subscription was cancelled, `claim()` returns `false`, and no completion is sent.
        case .ended: if queue.claim() { receive(.completion(.finished)) }
        }
    }
}
