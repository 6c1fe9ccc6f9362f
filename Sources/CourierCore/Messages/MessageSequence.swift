public import Synchronization

/// The messages of a subscription as an asynchronous sequence.
///
/// ```swift
/// for try await note in client.messages(Note.self, from: "chat/+/notes") {
///     show(note)
/// }
/// ```
///
/// Each loop is a separate reader. The loop subscribes when it starts, and unsubscribes when it is left or its task is
/// cancelled. To subscribe before the loop starts, call ``subscribed()``. Messages arrive in batches, and the loop
/// suspends only between batches. The client decodes a message once for each reader, and only when the reader takes the
/// message. A batch has at most 256 messages, and gets no further message when it has 256 KiB. A batch of stored
/// messages has at most 256 messages.
public struct MessageSequence<Element: Sendable>: AsyncSequence, Sendable {
    private let open: @Sendable () -> any MessageSource<Element>
    /// The reader that `subscribed()` started, for the first loop; `nil` if the sequence was not created by
    /// `subscribed()`.
    private let started: StartedReader?

    /// Creates a sequence that opens a source for each loop.
    ///
    /// - Parameter open: A closure that returns a new source. It is called once per iterator, on the thread that starts
    ///   the loop.
    public init(open: @escaping @Sendable () -> any MessageSource<Element>) {
        self.open = open
        started = nil
    }

    private init(_ started: StartedReader, open: @escaping @Sendable () -> any MessageSource<Element>) {
        self.open = open
        self.started = started
    }

    /// Returns an iterator with a new reader. After ``subscribed()``, the first loop uses the reader that
    /// ``subscribed()`` started.
    public func makeAsyncIterator() -> Iterator { Iterator(started?.take() ?? Iterator.Reading(open())) }

    /// Subscribes now, and returns when the broker has granted the subscription.
    ///
    /// ```swift
    /// let notes = try await client.messages(Note.self, from: "chat/+/notes").subscribed()
    /// try await client.publish(Note(title: "hello"), to: "chat/7/notes")
    /// for try await note in notes { show(note) }  // Begins with "hello".
    /// ```
    ///
    /// The first loop over the returned sequence gets every message that arrives after this call, including messages
    /// that the broker has stored for the session. Each further loop subscribes when it starts. If you start no loop,
    /// release the sequence, because the subscription remains as long as the sequence exists.
    ///
    /// If there is no connection, the method waits for a connection as `connected()` does.
    ///
    /// - Returns: A sequence of the same messages, already subscribed.
    /// - Throws: The errors of `connected()`, the broker's refusal of the subscription, or `CancellationError`.
    public nonisolated(nonsending) func subscribed() async throws -> MessageSequence {
        let source = open()
        // `reading` cancels the source when `reading` is released, even if the code below throws an error.
        let reading = Iterator.Reading(source)
        try await source.opened()
        return MessageSequence(StartedReader(reading), open: open)
    }

    /// Holds a started reader until the first loop takes it.
    private final class StartedReader: Sendable {
        private let reading: Mutex<Iterator.Reading?>

        init(_ reading: Iterator.Reading) { self.reading = Mutex(reading) }

        func take() -> Iterator.Reading? {
            reading.withLock { reading in
                defer { reading = nil }
                return reading
            }
        }
    }

    /// The iterator of one `for await` loop. Each loop reads the messages independently of other loops.
    @frozen
    public struct Iterator: AsyncIteratorProtocol {
        /// The elements that are ready, in reverse order, so that the next element can be removed without moving the
        /// other elements.
        @usableFromInline var batch: [Element] = []
        @usableFromInline let reading: Reading

        init(_ reading: Reading) { self.reading = reading }

        /// Returns the next element, or `nil` at the end or if the task is cancelled.
        ///
        /// - Returns: The next element, or `nil`.
        /// - Throws: The error that ends the sequence. Afterwards, the sequence is at its end.
        @inlinable
        public nonisolated(nonsending) mutating func next() async throws -> Element? {
            if !Task.isCancelled, let element = takeReady() { return element }
            return try await refill()
        }

        /// Does the same as ``next()``, on the given actor.
        ///
        /// - Parameter actor: The caller's actor.
        /// - Returns: The next element, or `nil`.
        /// - Throws: The error that ends the sequence. Afterwards, the sequence is at its end.
        @inlinable
        public mutating func next(isolation actor: isolated (any Actor)?) async throws -> Element? {
            if !Task.isCancelled, let element = takeReady() { return element }
            return try await refill()
        }

        @inlinable
        mutating func takeReady() -> Element? {
            guard let element = batch.popLast() else { return nil }
            reading.unread.store(batch.count, ordering: .relaxed)
            return element
        }

        @inlinable
        nonisolated(nonsending) mutating func refill() async throws -> Element? {
            // If the batch still has elements, the task was cancelled, and these elements stay unread. Otherwise, the
            // loop has finished the last element, and the call of `nextBatch()` below reports to the source that the
            // batch is finished.
            if !batch.isEmpty { reading.end() }
            batch = []  // Frees the memory before the wait for the next batch.
            guard let source = reading.source else { return nil }
            do {
                batch = try await source.nextBatch()
            } catch {
                reading.end()
                if error is CancellationError { return nil }
                throw error
            }
            batch.reverse()
            guard let element = takeReady() else {
                reading.end()
                return nil
            }
            return element
        }
    }
}

/// An iterator is not `Sendable`, because only one task at a time may use it.
@available(*, unavailable)
extension MessageSequence.Iterator: Sendable {}
