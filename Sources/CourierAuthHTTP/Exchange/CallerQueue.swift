import Foundation

#if canImport(FoundationNetworking)
    /// Calls the delegate of a `URLSession` directly on the queue on which the session reads, instead of queueing the
    /// call.
    ///
    /// A session queues the received parts of a body without a limit. If a peer sends faster than a queue runs, the
    /// parts of an unwanted body would fill the memory. Also, the `cancel()` of a task checks on the reading queue
    /// whether the task has ended. The delegate learns of the end on the same queue, so the two cannot overlap. An
    /// overlap would crash the process.
    ///
    /// Safe to share: it adds no state to its superclass.
    final class CallerQueue: OperationQueue, @unchecked Sendable {
        override func addOperation(_ block: @escaping @Sendable () -> Void) { block() }
    }
#else
    /// An ordinary queue. On other platforms, a session itself slows down the peer.
    typealias CallerQueue = OperationQueue
#endif
