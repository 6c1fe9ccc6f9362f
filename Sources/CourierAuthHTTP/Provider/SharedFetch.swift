import CourierCore
import Synchronization

/// One fetch of credentials for several callers. All callers that arrive while the fetch runs get its result.
///
/// If a caller is cancelled, it stops waiting, and the other callers continue to wait. If no caller waits any more, the
/// work is cancelled, and further callers cannot join this fetch.
final class SharedFetch: Sendable {
    typealias Outcome = Result<ConnectGrant, any Error>

    private enum Phase {
        /// No caller has arrived yet.
        case idle
        case underWay
        case ended(Outcome)
        case abandoned
    }

    private struct State {
        var phase = Phase.idle
        var waiters: [UInt64: CheckedContinuation<ConnectGrant?, any Error>] = [:]
        /// The numbers of callers that were cancelled before they were registered as waiters.
        var leavers: Set<UInt64> = []
        var lastNumber: UInt64 = 0
        /// The running work. It ends by itself, or is cancelled when the last waiter stops waiting.
        var task: Task<Void, Never>?
    }

    private let state = Mutex(State())

    /// True if callers cannot join any more, because the fetch has ended or was abandoned.
    var isOver: Bool {
        state.withLock { state in
            switch state.phase {
            case .idle, .underWay: false
            case .ended, .abandoned: true
            }
        }
    }

    /// Waits for the credentials that `work` returns. The first caller starts `work`. Returns `nil` if `work` was
    /// already cancelled, because all earlier callers had stopped waiting.
    func grant(_ work: @escaping @Sendable () async throws -> ConnectGrant) async throws -> ConnectGrant? {
        let number = state.withLock { state in
            state.lastNumber += 1
            return state.lastNumber
        }
        return try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { waiter in
                if let answer = enter(waiter, number, work) { waiter.resume(with: answer) }
            }
        } onCancel: {
            leave(number)
        }
    }

    /// Adds a waiter and returns `nil`. If the result for the caller is already known, returns this result and adds no
    /// waiter.
    private func enter(
        _ waiter: CheckedContinuation<ConnectGrant?, any Error>, _ number: UInt64,
        _ work: @escaping @Sendable () async throws -> ConnectGrant
    ) -> Result<ConnectGrant?, any Error>? {
        state.withLock { state in
            if state.leavers.remove(number) != nil { return .failure(CancellationError()) }
            switch state.phase {
            case .ended(let outcome): return outcome.map { $0 }
            case .abandoned: return .success(nil)
            case .idle:
                state.phase = .underWay
                state.waiters[number] = waiter
                state.task = Task { await self.run(work) }
            case .underWay: state.waiters[number] = waiter
            }
            return nil
        }
    }

    private func leave(_ number: UInt64) {
        let (waiter, task) = state.withLock {
            state -> (CheckedContinuation<ConnectGrant?, any Error>?, Task<Void, Never>?) in
            guard let waiter = state.waiters.removeValue(forKey: number) else {
                state.leavers.insert(number)
                return (nil, nil)
            }
            guard state.waiters.isEmpty, case .underWay = state.phase else { return (waiter, nil) }
            state.phase = .abandoned
            return (waiter, state.task.take())
        }
        task?.cancel()
        waiter?.resume(throwing: CancellationError())
    }

    private func run(_ work: @Sendable () async throws -> ConnectGrant) async {
        let outcome: Outcome
        do { outcome = .success(try await work()) } catch { outcome = .failure(error) }
        let waiters = state.withLock { state in
            if case .underWay = state.phase { state.phase = .ended(outcome) }
            state.task = nil
            defer { state.waiters = [:] }
            return state.waiters.values
        }
        for waiter in waiters { waiter.resume(with: outcome.map { $0 }) }
    }
}
