public import Foundation

extension AnyPublisher {
    /// Delivers all values to the following operators and sinks on a queue. Values are delivered one at a time, in the
    /// order in which they were sent, even if the queue is concurrent.
    ///
    /// Values wait for the queue in a buffer. If the queue is too slow, the buffer drops values according to its
    /// policy. To lose no messages, read them as a sequence, because a slow reader of a sequence slows down the sender.
    ///
    /// - Parameters:
    ///   - queue: The queue that delivers the values.
    ///   - buffer: The limits of the buffer; ``BufferPolicy/queue`` by default.
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

/// Delivers the values of a mailbox on a queue. Each block of work delivers a limited number of values, so that other
/// work of the queue can run between two blocks.
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
