import CourierCore
import Synchronization

/// Feeds one `for await` loop: takes batches from the reader's queue, and decodes them in the task of the loop.
final class SequenceSource<Value: Sendable>: MessageSource {
    typealias Element = Value

    private let queue: ReaderQueue
    private let mode: AcknowledgementMode
    private let decoder: ValueDecoder<Value>
    private let waiterCount: WaiterCount
    private let report: @Sendable (ReceivedMessage, any Error) -> Void
    private let grantWait: @Sendable () async throws -> Void
    private let closed: @Sendable ([ReceivedMessage]) -> Void
    /// The message that the loop's body is processing, and the right of this reader to acknowledge it.
    private let current = Mutex<(message: ReceivedMessage, part: AcknowledgementPart)?>(nil)
    private let batch = Mutex(Batch())

    /// The results of decoding the last batch.
    private struct Batch {
        var valueCount = 0
        /// One number for each message that could not be decoded: the count of decoded values before this message.
        var failures: [Int] = []

        /// Returns the number of messages that the loop has read or skipped. `unread` is the number of values of the
        /// batch that the loop has not read.
        func reachedCount(unread: Int) -> Int {
            let reached = valueCount - unread
            return reached + failures.count { $0 <= reached }
        }
    }

    /// Creates a source of the messages in `queue`.
    ///
    /// `report` is called for messages that cannot be decoded. `opened` waits until the broker has granted the
    /// subscription. `closed` is called once, when the loop is left. `closed` receives the unacknowledged messages, and
    /// the unread messages that must not be lost.
    init(
        _ queue: ReaderQueue, acknowledge mode: AcknowledgementMode, decoder: ValueDecoder<Value>,
        waiterCount: WaiterCount,
        report: @escaping @Sendable (ReceivedMessage, any Error) -> Void,
        opened: @escaping @Sendable () async throws -> Void,
        closed: @escaping @Sendable ([ReceivedMessage]) -> Void
    ) {
        self.queue = queue
        self.mode = mode
        self.decoder = decoder
        self.waiterCount = waiterCount
        self.report = report
        grantWait = opened
        self.closed = closed
    }

    nonisolated(nonsending) func opened() async throws { try await grantWait() }

    /// The largest number of messages in one batch for the loop's body.
    private static var messagesPerBatch: Int { 256 }

    nonisolated(nonsending) func nextBatch() async throws -> [Value] {
        finishCurrent()
        // If messages are acknowledged after processing, a batch has only one message. So each message is acknowledged
        // only after the loop's body has processed it.
        let limit = mode == .afterProcessing ? 1 : Self.messagesPerBatch
        while true {
            if Task.isCancelled { return [] }
            switch queue.take(atMost: limit) {
            case .messages(let slices):
                let values = decode(slices)
                if !values.isEmpty { return values }
            case .nothing: try await wait()
            case .ended(nil): return []
            case .ended(let error?): throw error
            }
        }
    }

    /// Waits until the queue has messages or has ended.
    private nonisolated(nonsending) func wait() async throws {
        let waiter = Waiter<Void>(waiterCount)
        if queue.wake({ waiter.resume(.success(())) }) { try await waiter.value() }
    }

    private func decode(_ slices: [MessageSlice]) -> [Value] {
        var failures: [Int] = []
        var values: [Value] = []
        if mode == .afterProcessing {
            for slice in slices {
                for message in slice {
                    if let value = decode(message) { values.append(value) } else { failures.append(values.count) }
                }
            }
        } else {
            // With the mode `onReceipt`, acknowledge the messages before the loop's body processes them. So if the body
            // leaves the loop early, no other reader receives the same messages again.
            slices.acknowledge()
            values = decoder.decode(slices) { message, error, count in
                report(message, error)
                failures.append(count)
            }
        }
        batch.withLock { $0 = Batch(valueCount: values.count, failures: failures) }
        return values
    }

    private func decode(_ message: ReceivedMessage) -> Value? {
        let part = message.ticket.map { AcknowledgementPart($0) }
        if let part { current.withLock { $0 = (message, part) } }
        do {
            return try decoder.decode(message.message(acknowledgedBy: part))
        } catch {
            report(message, error)
            finishCurrent()  // Acknowledge the message, because a later attempt to decode it would also fail.
            return nil
        }
    }

    private func finishCurrent() {
        guard mode == .afterProcessing else { return }
        let part = current.withLock { current in
            defer { current = nil }
            return current?.part
        }
        part?.acknowledge()
    }

    func cancel(unread count: Int) {
        let unfinished = current.withLock { current in
            defer { current = nil }
            return current
        }
        _ = queue.claim(batch.withLock { $0.reachedCount(unread: count) })
        var left = queue.close().worthKeeping
        if let unfinished, !unfinished.part.isDone { left.insert(unfinished.message, at: 0) }
        closed(left)
    }
}
