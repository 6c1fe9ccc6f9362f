import CourierCore
import CourierTransport
import Synchronization

/// One reader's place among the client's readers: opened and closed from any thread, in this order, once each.
final class ReaderRegistration: Sendable {
    let queue: ReaderQueue
    private let place: Place

    /// Where the reader stands; set on the loop.
    private final class Place: Sendable {
        let distributor: MessageDistributor
        let loop: EventLoop
        let id = Mutex<MessageDistributor.ReaderID?>(nil)

        init(_ distributor: MessageDistributor, _ loop: EventLoop) {
            self.distributor = distributor
            self.loop = loop
        }

        func drained() {
            loop.execute { [self] in
                if let id = id.withLock({ $0 }) { distributor.drained(id) }
            }
        }
    }

    init(_ buffer: ReadBuffer, _ distributor: MessageDistributor, on loop: EventLoop) {
        let place = Place(distributor, loop)
        self.place = place
        queue = ReaderQueue(buffer) { place.drained() }
    }

    /// Gives the reader its messages from now on. On the loop.
    func open(_ filter: TopicFilter?, _ mode: AcknowledgementMode) {
        let id = place.distributor.add(queue, filter, mode)
        place.id.withLock { $0 = id }
    }

    /// Takes the reader out; `left` is what it had not finished. On the loop.
    func close(_ left: [ReceivedMessage]) {
        let id = place.id.withLock { id in
            defer { id = nil }
            return id
        }
        if let id { place.distributor.remove(id, left) }
    }
}
