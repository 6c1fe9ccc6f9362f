import Foundation

#if canImport(FoundationNetworking)
    /// Calls the delegate of a `URLSession` where the session's bytes are read, instead of queueing the call.
    ///
    /// A session queues every part of a body, without a limit, and a peer can send faster than a queue is worked off; so a body
    /// that is not wanted would fill the memory. And `cancel()` of a task checks on the reading queue whether the task has
    /// ended: as the delegate learns of the end there too, the two cannot cross, which ends the process otherwise.
    ///
    /// Safe to share: it adds no state to its superclass.
    final class CallerQueue: OperationQueue, @unchecked Sendable {
        override func addOperation(_ block: @escaping @Sendable () -> Void) { block() }
    }
#else
    /// An ordinary queue: elsewhere a session holds back the peer by itself.
    typealias CallerQueue = OperationQueue
#endif
