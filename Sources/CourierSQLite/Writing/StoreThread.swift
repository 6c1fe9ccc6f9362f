import CourierCore
import Dispatch
import Foundation
import Synchronization

/// The store's own thread. Takes the waiting batches, writes them as a group, calls their completions, and runs read
/// requests. The thread sleeps while there is no work.
final class StoreThread: Sendable {
    private let inbox = Mutex(StoreInbox())
    private let bell = DispatchSemaphore(value: 0)
    private let core: NonSendableBox<StoreCore>
    private let limits: SQLiteMessageStore.Limits
    private let path: String
    private let transactions = Atomic(0)

    /// Creates the thread for an open file. From now on, only this thread may use `core`.
    init(_ core: sending StoreCore, _ limits: SQLiteMessageStore.Limits, path: String) {
        self.core = NonSendableBox(core)
        self.limits = limits
        self.path = path
    }

    /// The number of committed transactions.
    var transactionCount: Int { transactions.load(ordering: .relaxed) }

    /// Starts the thread. It runs until ``close(_:)``.
    func start() {
        let thread = Thread { self.core.use { self.run($0) } }
        thread.name = "courier.sqlite"
        thread.start()
    }

    // MARK: Called on any thread

    func put(_ batch: StoreBatch) {
        switch inbox.withLock({ $0.put(batch, limits, path: path) }) {
        case .some(true): bell.signal()
        case .some(false): break
        case .none:
            // Call the completion on a global queue, because the store's thread has ended.
            let error = Self.closed(path)
            DispatchQueue.global().async { batch.completion(.failure(error)) }
        }
    }

    /// Runs `body` on the store's thread, after the batches that were added before this call.
    func read<Value: Sendable>(
        _ body: @escaping @Sendable (StoreTables, ScopeLedger) throws(SQLiteFailure) -> Value
    ) async throws -> Value {
        try await withCheckedThrowingContinuation { continuation in
            let read: @Sendable (StoreCore) -> Void = { core in
                continuation.resume(with: Result { () throws(CourierError) in try core.read(body) })
            }
            switch inbox.withLock({ $0.put(read) }) {
            case .some(true): bell.signal()
            case .some(false): break
            case .none: continuation.resume(throwing: Self.closed(path))
            }
        }
    }

    /// Refuses further work, writes the waiting batches, and closes the file.
    func close(_ whenClosed: (@Sendable () -> Void)?) {
        switch inbox.withLock({ $0.close(whenClosed) }) {
        case .some(true): bell.signal()
        case .some(false): break
        case .none: whenClosed?()
        }
    }

    private static func closed(_ path: String) -> CourierError {
        CourierError(.storeFailed, "The message store \(path) is closed. Make a new store.")
    }

    // MARK: Called on the store's thread

    private func run(_ core: StoreCore) {
        var hasMoreToClean = true
        while true {
            let work = inbox.withLock { $0.take(sleeping: !hasMoreToClean) }
            if work.isEmpty {
                if hasMoreToClean { hasMoreToClean = core.giveBackPages() } else { bell.wait() }
                continue
            }
            perform(work, core)
            if work.isLast { break }
            core.moveLog()
            hasMoreToClean = true
        }
        core.close()
        for tell in inbox.withLock({ $0.closed() }) { tell() }
    }

    private func perform(_ work: StoreInbox.Work, _ core: StoreCore) {
        if !work.batches.isEmpty {
            let outcomes = core.write(work.batches)
            transactions.store(core.transactionCount, ordering: .relaxed)
            for (batch, outcome) in zip(work.batches, outcomes) { batch.completion(outcome) }
        }
        for read in work.reads { read(core) }
    }
}
