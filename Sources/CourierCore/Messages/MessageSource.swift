/// Supplies one ``MessageSequence`` iterator with batches of elements.
///
/// A client implements the protocol with a queue and a lock. A test can implement it with an array. The rules are:
/// - Only one reader calls ``nextBatch()``, and never twice at the same time. The method returns at least one element,
///   or an empty array if no element follows. If the task is cancelled, the method returns an empty array or throws
///   `CancellationError`.
/// - A call of ``nextBatch()`` means that the reader has finished the previous batch. A source that acknowledges after
///   processing therefore returns batches of one element.
/// - A source limits the number of elements that are ready, and documents what happens at the limit.
/// - ``opened()`` is called at most once, before the first batch.
/// - ``cancel(unread:)`` is called once, when the reader needs no more elements: its loop was left, or its iterator was
///   released. Any thread may call the method, and it must not block.
public protocol MessageSource<Element>: AnyObject, Sendable {
    /// The type of the elements of the sequence.
    associatedtype Element: Sendable

    /// Waits until the source is open. Called by ``MessageSequence/subscribed()``. The source of a client returns when
    /// the broker has granted the subscription. The default implementation returns at once.
    ///
    /// - Throws: The reason why no elements will arrive, or `CancellationError`.
    nonisolated(nonsending) func opened() async throws

    /// Waits for elements, and returns the elements that are ready, in the order of their arrival.
    ///
    /// - Returns: The elements; an empty array at the end.
    /// - Throws: The error that ends the sequence.
    nonisolated(nonsending) func nextBatch() async throws -> [Element]

    /// Ends the subscription that feeds this source.
    ///
    /// - Parameter count: The number of elements that the loop did not receive. These elements are the last elements of
    ///   the last batch.
    func cancel(unread count: Int)
}

extension MessageSource {
    /// Returns at once, for a source that is always open.
    public nonisolated(nonsending) func opened() async throws {}
}
