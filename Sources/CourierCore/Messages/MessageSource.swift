/// Feeds one ``MessageSequence`` iterator, a batch at a time.
///
/// A client implements it by a queue under one lock; a test by an array. Contract:
/// - ``nextBatch()`` is called by one reader, never twice at once. It returns at least one element, or an empty
///   array when there will be none. It ends when the task is cancelled: by an empty array or by throwing
///   `CancellationError`.
/// - Asking for the next batch says that the reader is done with the last one. A source that acknowledges after
///   processing therefore hands out batches of one.
/// - What it holds ready is bounded, and it says what happens when the bound is reached.
/// - ``opened()`` is called at most once, before the first batch.
/// - ``cancel(unread:)`` is called once, when the reader will ask no more: the loop was left or the iterator dropped. It
///   may come from any thread, and must not block.
public protocol MessageSource<Element>: AnyObject, Sendable {
    /// What the sequence delivers.
    associatedtype Element: Sendable

    /// Waits until elements come, for ``MessageSequence/subscribed()``: a client returns when the broker has granted the
    /// subscription. By default it returns at once.
    ///
    /// - Throws: Why no elements will come, or `CancellationError`.
    nonisolated(nonsending) func opened() async throws

    /// Waits for elements and takes what there is, in order.
    ///
    /// - Returns: The elements; empty at the end.
    /// - Throws: Why the sequence cannot continue; it ends with this error.
    nonisolated(nonsending) func nextBatch() async throws -> [Element]

    /// Ends the subscription that feeds this source.
    ///
    /// - Parameter count: How many elements at the end of the last batch the loop did not come to.
    func cancel(unread count: Int)
}

extension MessageSource {
    /// Returns at once.
    public nonisolated(nonsending) func opened() async throws {}
}
