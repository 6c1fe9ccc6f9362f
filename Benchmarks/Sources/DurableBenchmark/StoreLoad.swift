import CourierCore
import Synchronization

/// Simulates concurrent callers of a store. Each caller stores its next message when the previous one is stored. Stored
/// messages are removed again, like acknowledged messages.
final class StoreLoad: Sendable {
    /// The rows that are stored.
    enum Rows: Sendable {
        case outgoing, jobs

        fileprivate func added(_ number: UInt64) -> StoreChange {
            switch self {
            case .outgoing: .enqueue(Workload.message(number))
            case .jobs: .addJob(Workload.job(number))
            }
        }

        fileprivate func removed(_ id: StoredMessage.ID) -> StoreChange {
            switch self {
            case .outgoing: .removeOutgoing(id)
            case .jobs: .removeJob(id)
            }
        }
    }

    private struct State {
        var next: UInt64 = 0
        var stored = 0
        var waiter: CheckedContinuation<ContinuousClock.Instant, any Error>?
    }

    private let store: any MessageStore
    private let rows: Rows
    private let count: Int
    private let state = Mutex(State())

    init(_ store: any MessageStore, _ rows: Rows = .outgoing, count: Int) {
        self.store = store
        self.rows = rows
        self.count = count
    }

    /// Runs the load. Returns the time when the last message was stored.
    func run(callers: Int) async throws -> ContinuousClock.Instant {
        try await withCheckedThrowingContinuation { continuation in
            state.withLock { $0.waiter = continuation }
            for _ in 0..<min(callers, count) { handOver() }
        }
    }

    private func handOver() {
        let number = state.withLock { state -> UInt64? in
            guard state.next < UInt64(count) else { return nil }
            state.next += 1
            return state.next
        }
        guard let number else { return }
        store.commit([rows.added(number)], in: Workload.scope) { [self] result in
            stored(StoredMessage.ID(rawValue: number), result)
        }
    }

    private func stored(_ id: StoredMessage.ID, _ result: Result<Void, CourierError>) {
        let waiter = state.withLock { state in
            state.stored += 1
            let isOver = state.stored == count || !result.isSuccess
            defer { if isOver { state.waiter = nil } }
            return isOver ? state.waiter : nil
        }
        store.commit([rows.removed(id)], in: Workload.scope) { _ in }
        waiter?.resume(with: result.map { ContinuousClock.now }.mapError { $0 })
        handOver()
    }
}

extension Result {
    fileprivate var isSuccess: Bool { if case .success = self { true } else { false } }
}
