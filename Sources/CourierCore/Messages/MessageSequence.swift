public import Synchronization

/// The messages of a subscription as an asynchronous sequence.
///
/// ```swift
/// for try await note in client.messages(Note.self, from: "chat/+/notes") {
///     show(note)
/// }
/// ```
///
/// Each loop is a reader of its own: it subscribes when it starts, and unsubscribes when it is left or its task is
/// cancelled. ``subscribed()`` subscribes before the loop. While a batch lasts, the next element costs no suspension.
public struct MessageSequence<Element: Sendable>: AsyncSequence, Sendable {
    private let open: @Sendable () -> any MessageSource<Element>
    /// A reader that has started without a loop, for the first loop.
    private let started: StartedReader?

    /// Makes a sequence that opens a source for each loop.
    ///
    /// - Parameter open: Makes a fresh source; called once per iterator, on the thread that starts the loop.
    public init(open: @escaping @Sendable () -> any MessageSource<Element>) {
        self.open = open
        started = nil
    }

    private init(_ started: StartedReader, open: @escaping @Sendable () -> any MessageSource<Element>) {
        self.open = open
        self.started = started
    }

    /// Starts a reader, or continues with the one that ``subscribed()`` has started.
    public func makeAsyncIterator() -> Iterator { Iterator(started?.take() ?? Iterator.Reading(open())) }

    /// Subscribes now, and returns when the broker has granted it.
    ///
    /// ```swift
    /// let notes = try await client.messages(Note.self, from: "chat/+/notes").subscribed()
    /// try await client.publish(Note(title: "hello"), to: "chat/7/notes")
    /// for try await note in notes { show(note) }  // Begins with "hello".
    /// ```
    ///
    /// The first loop over the returned sequence gets every message from the call on, also those that the broker has kept
    /// for the session. If there will be no loop, release the sequence: it holds the subscription. Each further loop
    /// subscribes when it starts.
    ///
    /// Without a connection it waits for one, as `connected()` does.
    ///
    /// - Returns: The same messages, subscribed to.
    /// - Throws: What `connected()` throws, why the broker has refused the subscription, or `CancellationError`.
    public nonisolated(nonsending) func subscribed() async throws -> MessageSequence {
        let source = open()
        // Ends the source when it goes away, also by an error below.
        let reading = Iterator.Reading(source)
        try await source.opened()
        return MessageSequence(StartedReader(reading), open: open)
    }

    /// Has a reader until the first loop takes it.
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

    /// One reader's place in the sequence.
    @frozen
    public struct Iterator: AsyncIteratorProtocol {
        /// What is ready, the next one last: taking it costs no copy.
        @usableFromInline var batch: [Element] = []
        @usableFromInline let reading: Reading

        init(_ reading: Reading) { self.reading = reading }

        /// The next element, `nil` at the end or when the task is cancelled.
        ///
        /// - Returns: The element.
        /// - Throws: Why the sequence cannot continue; afterwards it is at its end.
        @inlinable
        public nonisolated(nonsending) mutating func next() async throws -> Element? {
            if !Task.isCancelled, let element = takeReady() { return element }
            return try await refill()
        }

        /// The same as ``next()``, on the given actor.
        ///
        /// - Parameter actor: The caller's actor.
        /// - Returns: The element.
        /// - Throws: Why the sequence cannot continue; afterwards it is at its end.
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
            // A cancelled task leaves what is ready. Where nothing is, it is done with the last element and says so below.
            if !batch.isEmpty { reading.end() }
            batch = []  // Its memory is not kept while the source is waited for.
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

/// One reader's place is for one task at a time.
@available(*, unavailable)
extension MessageSequence.Iterator: Sendable {}
