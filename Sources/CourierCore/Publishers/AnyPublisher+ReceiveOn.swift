public import Foundation

extension AnyPublisher {
    /// Delivers on a queue from here on, in order and one at a time even when the queue is concurrent.
    ///
    /// Values wait in a buffer of their own. A queue that is too slow loses values as the policy says: where nothing
    /// may be lost, read the messages as a sequence, which slows the sender down instead.
    ///
    /// - Parameters:
    ///   - queue: The queue.
    ///   - buffer: What may wait for it; ``BufferPolicy/queue`` by default.
    /// - Returns: A publisher that delivers on the queue.
    public func receive(on queue: DispatchQueue, buffer: BufferPolicy = .queue) -> AnyPublisher<Output, Failure> {
        AnyPublisher { receive in
            let hop = QueueHop(queue, SerialMailbox(buffer, receive: receive))
            let upstream = subscribe { hop.send($0) }
            return AnyCancellable {
                upstream.cancel()
                hop.mailbox.close()
            }
        }
    }
}

/// Delivers a mailbox on a queue, a bounded number of values per turn so that other work of the queue gets its turn.
private struct QueueHop<Output: Sendable, Failure: Error>: Sendable {
    private static var valuesPerTurn: Int { 128 }

    private let queue: DispatchQueue
    let mailbox: SerialMailbox<Output, Failure>

    init(_ queue: DispatchQueue, _ mailbox: SerialMailbox<Output, Failure>) {
        self.queue = queue
        self.mailbox = mailbox
    }

    func send(_ signal: PublisherSignal<Output, Failure>) {
        let dropped = mailbox.put(signal)
        if mailbox.claim() { takeTurn() }
        mailbox.report(dropped)
    }

    private func takeTurn() {
        queue.async {
            if mailbox.deliver(atMost: Self.valuesPerTurn) { takeTurn() }
        }
    }
}
