import CourierCore
import Synchronization

/// Simulates concurrent callers of a store. Each caller stores its next message when the previous one is stored. Stored
/// messages are removed again, like acknowledged messages.
final class StoreLoad: Sendable {
    private struct State {
        var next: UInt64 = 0
        var stored = 0
        var waiter: CheckedContinuation<ContinuousClock.Instant, any Error>?
    }

    private let store: any MessageStore
    private let count: Int
    private let state = Mutex(State())

    init(_ store: any MessageStore, count: Int) {
        self.store = store
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
        store.commit([.enqueue(Workload.message(number))], in: Workload.scope) { [self] result in
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
        store.commit([.removeOutgoing(id)], in: Workload.scope) { _ in }
        waiter?.resume(with: result.map { ContinuousClock.now }.mapError { $0 })
        handOver()
    }
}

extension Result {
    fileprivate var isSuccess: Bool { if case .success = self { true } else { false } }
}
