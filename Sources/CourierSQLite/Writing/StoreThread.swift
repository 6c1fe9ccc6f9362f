import CourierCore
import Dispatch
import Foundation
import Synchronization

/// The store's own thread: takes what waits, writes it as a group, calls the completions, reads, and sleeps.
final class StoreThread: Sendable {
    private let inbox = Mutex(StoreInbox())
    private let bell = DispatchSemaphore(value: 0)
    private let core: NonSendableBox<StoreCore>
    private let limits: SQLiteMessageStore.Limits
    private let path: String
    private let transactions = Atomic(0)

    /// Takes over an open file. The core is used by the thread alone from here on.
    init(_ core: sending StoreCore, _ limits: SQLiteMessageStore.Limits, path: String) {
        self.core = NonSendableBox(core)
        self.limits = limits
        self.path = path
    }

    /// How many transactions were committed.
    var transactionCount: Int { transactions.load(ordering: .relaxed) }

    /// Starts the thread, which lives until ``close(_:)``.
    func start() {
        let thread = Thread { self.core.use { self.run($0) } }
        thread.name = "courier.sqlite"
        thread.start()
    }

    // MARK: From any thread

    func put(_ batch: StoreBatch) {
        switch inbox.withLock({ $0.put(batch, limits, path: path) }) {
        case .some(true): bell.signal()
        case .some(false): break
        case .none:
            // The store's own threads have ended, so one of the system's calls.
            let error = Self.closed(path)
            DispatchQueue.global().async { batch.completion(.failure(error)) }
        }
    }

    /// Reads on the thread, behind what was committed before.
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

    /// Lets nothing further in, writes what waits, and closes the file.
    func close(_ whenClosed: (@Sendable () -> Void)?) {
        switch inbox.withLock({ $0.close(whenClosed) }) {
        case .some(true): bell.signal()
        case .some(false): break
        case .none: whenClosed?()
        }
    }

    private static func closed(_ path: String) -> CourierError {
        CourierError(.storeFailed, "The message store \(path) is closed. Make a new one to go on.")
    }

    // MARK: On the thread

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
