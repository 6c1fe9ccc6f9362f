public import Synchronization

extension MessageSequence.Iterator {
    /// Owns the source of an iterator, and cancels the source exactly once. The source is cancelled at the end of the
    /// sequence, or when the last copy of the iterator is released.
    @usableFromInline
    final class Reading: Sendable {
        private let open: Mutex<(any MessageSource<Element>)?>
        /// The number of elements in the last batch that are still unread.
        @usableFromInline let unread = Atomic(0)

        init(_ source: any MessageSource<Element>) { open = Mutex(source) }

        deinit { end() }

        @usableFromInline var source: (any MessageSource<Element>)? { open.withLock { $0 } }

        @usableFromInline
        func end() {
            let source = open.withLock { source in
                defer { source = nil }
                return source
            }
            source?.cancel(unread: unread.load(ordering: .relaxed))
        }
    }
}
