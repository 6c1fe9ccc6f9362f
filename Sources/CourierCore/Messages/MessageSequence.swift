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
/// cancelled. While a batch lasts, the next element costs no suspension.
public struct MessageSequence<Element: Sendable>: AsyncSequence, Sendable {
    private let open: @Sendable () -> any MessageSource<Element>

    /// Makes a sequence that opens a source for each loop.
    ///
    /// - Parameter open: Makes a fresh source; called once per iterator, on the thread that starts the loop.
    public init(open: @escaping @Sendable () -> any MessageSource<Element>) { self.open = open }

    /// Starts a reader.
    public func makeAsyncIterator() -> Iterator { Iterator(open()) }

    /// One reader's place in the sequence.
    @frozen
    public struct Iterator: AsyncIteratorProtocol {
        /// What is ready, the next one last: taking it costs no copy.
        @usableFromInline var batch: [Element] = []
        @usableFromInline let reading: Reading

        init(_ source: any MessageSource<Element>) { reading = Reading(source) }

        /// The next element, `nil` at the end or when the task is cancelled.
        ///
        /// - Returns: The element.
        /// - Throws: Why the sequence can not go on; afterwards it is at its end.
        @inlinable
        public nonisolated(nonsending) mutating func next() async throws -> Element? {
            if !Task.isCancelled, let element = takeReady() { return element }
            return try await refill()
        }

        /// The same as ``next()``, on the given actor.
        ///
        /// - Parameter actor: The caller's actor.
        /// - Returns: The element.
        /// - Throws: Why the sequence can not go on; afterwards it is at its end.
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
