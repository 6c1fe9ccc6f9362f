import CourierCore
import CourierTransport
import Synchronization

/// Registers one reader with the client. A caller first opens the registration, may end it, and then closes it.
final class ReaderRegistration: Sendable {
    let queue: ReaderQueue
    /// Resumes the caller that waits until the broker has granted the reader's filter. Fails if no grant can arrive.
    /// `nil` if no caller waits for the grant.
    private let grant: Waiter<Void>?
    private let place: Place
    /// Called when the reader ends without an error.
    private let onEnd = Mutex<(@Sendable () -> Void)?>(nil)

    /// The progress of the registration.
    private enum ReaderState {
        case outside
        case inside(MessageDistributor.ReaderID)
        /// The reader gets no further messages. Earlier messages may still be in its queue, or the app may not have
        /// finished them yet.
        case ended(MessageDistributor.Reader)
    }

    /// The state of the registration; changed on the event loop only.
    private final class Place: Sendable {
        let distributor: MessageDistributor
        let loop: EventLoop
        let state = Mutex(ReaderState.outside)

        var id: MessageDistributor.ReaderID? {
            guard case .inside(let id) = state.withLock({ $0 }) else { return nil }
            return id
        }

        init(_ distributor: MessageDistributor, _ loop: EventLoop) {
            self.distributor = distributor
            self.loop = loop
        }

        func drained() {
            loop.execute { [self] in
                if let id { distributor.drained(id) }
            }
        }
    }

    init(
        _ buffer: ReadBuffer, _ distributor: MessageDistributor, on loop: EventLoop, grant: Waiter<Void>? = nil
    ) {
        self.grant = grant
        let place = Place(distributor, loop)
        self.place = place
        // `place` may hold a reader that has ended, and so also the queue. A strong reference would be a cycle.
        queue = ReaderQueue(buffer) { [weak place] in place?.drained() }
    }

    /// Registers the reader. From now on, the reader receives messages. Called on the event loop.
    func open(_ filter: TopicFilter?, _ mode: AcknowledgementMode) {
        guard let id = place.distributor.add(queue, filter, mode) else { return }
        place.state.withLock { $0 = .inside(id) }
    }

    /// Sets the function that is called when the reader ends without an error; `nil` for none.
    func whenEnded(_ function: (@Sendable () -> Void)?) { onEnd.withLock { $0 = function } }

    /// Ends the reader with an error. The reader first receives the messages that have arrived for it. Called on the
    /// event loop.
    func end(_ error: CourierError) {
        retire()
        queue.finish(error)
        grant?.resume(.failure(error))
    }

    /// Ends the reader without an error. The reader first receives the messages that have arrived for it. Called on the
    /// event loop.
    func end() {
        retire()
        queue.finish()
        onEnd.withLock { exchange(&$0, with: nil) }?()
        grant?.resume(
            .failure(
                CourierError(.sessionMissing, "The client was shut down before the broker granted the subscription.")))
    }

    private func retire() {
        if let id = place.id, let reader = place.distributor.retire(id) {
            place.state.withLock { $0 = .ended(reader) }
        }
    }

    /// Resumes the caller that waits for the grant, because the broker has granted the reader's filter.
    func granted() { grant?.resume(.success(())) }

    /// Resumes the caller that waits for the grant. The caller receives `error`, because there is no connection and the
    /// client does not try to connect again. The reader stays registered.
    func failGrant(_ error: CourierError) { grant?.resume(.failure(error)) }

    /// True while the reader receives messages: it was opened, and has not ended.
    var isReading: Bool { place.id != nil }

    /// Removes the reader. `left` are the messages that the reader has not finished. May be called again with further
    /// messages. Called on the event loop.
    func close(_ left: [ReceivedMessage]) {
        switch place.state.withLock({ $0 }) {
        case .outside: break
        case .inside(let id):
            if let reader = place.distributor.remove(id, left) { place.state.withLock { $0 = .ended(reader) } }
        case .ended(let reader): place.distributor.keepUnfinished(left, of: reader)
        }
    }
}
