public import Synchronization

extension MessageSequence.Iterator {
    /// Cancels the source exactly once: at the end, or when the last copy of the iterator is gone.
    @usableFromInline
    final class Reading: Sendable {
        private let open: Mutex<(any MessageSource<Element>)?>
        /// How many elements of the last batch the loop has not come to.
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
