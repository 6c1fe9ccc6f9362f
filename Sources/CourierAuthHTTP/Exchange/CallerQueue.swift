import Foundation

#if canImport(FoundationNetworking)
    /// Calls the delegate of a `URLSession` directly on the queue on which the session reads, without a second queue.
    ///
    /// An ordinary queue would have two problems. First, the session queues received parts of a body without a limit.
    /// If a peer sends faster than the queue runs, the parts fill the memory. Second, `cancel()` checks on the reading
    /// queue whether the task has ended. The process crashes if another queue reports the end of the task to the
    /// delegate during this check. With this class, the check and the report both happen on the reading queue.
    ///
    /// Safe to share: it adds no state to its superclass.
    final class CallerQueue: OperationQueue, @unchecked Sendable {
        override func addOperation(_ block: @escaping @Sendable () -> Void) { block() }
    }
#else
    /// Outside Linux, an ordinary queue is enough, because a session itself slows down a peer that sends too fast.
    typealias CallerQueue = OperationQueue
#endif
