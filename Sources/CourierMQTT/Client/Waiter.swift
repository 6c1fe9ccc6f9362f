import CourierCore
import Synchronization

/// Lets one task wait for a result. The wait ends exactly once: with the result, or with the cancellation of the task.
///
/// ```
/// empty ──value()──▶ waiting ──resume──▶ done
///   └────resume────▶ answered ──value()──▶ done
/// ```
///
/// The continuation is an `UnsafeContinuation`, which costs less than a checked continuation. The resuming thread
/// removes the continuation from the state under the lock, so no other thread can resume it.
final class Waiter<Value: Sendable>: Sendable {
    typealias Outcome = Result<Value, any Error>

    /// The progress of the wait.
    private enum State {
        case empty
        case waiting(UnsafeContinuation<Value, any Error>)
        case answered(Outcome)
        case done
    }

    private let state = Mutex(State.empty)
    private let waiterCount: WaiterCount

    /// Makes a waiter. `waiterCount` counts the waiter while a task waits for the outcome.
    init(_ waiterCount: WaiterCount) { self.waiterCount = waiterCount }

    /// Ends the wait with this outcome. Only the first call has an effect. May be called from any thread.
    func resume(_ outcome: Outcome) {
        let continuation = state.withLock { state -> UnsafeContinuation<Value, any Error>? in
            switch state {
            case .empty:
                state = .answered(outcome)
                return nil
            case .waiting(let continuation):
                state = .done
                return continuation
            case .answered, .done: return nil
            }
        }
        guard let continuation else { return }
        waiterCount.left()
        continuation.resume(with: outcome)
    }

    /// Waits for the outcome. May be called once. If the task is cancelled, `abandoned` is called, and then the wait
    /// ends with `CancellationError`.
    func value(abandoned: @escaping @Sendable () -> Void = {}) async throws -> Value {
        try await withTaskCancellationHandler {
            try await withUnsafeThrowingContinuation { continuation in
                let answer = state.withLock { state -> Outcome? in
                    guard case .answered(let outcome) = state else {
                        state = .waiting(continuation)
                        waiterCount.entered()
                        return nil
                    }
                    state = .done
                    return outcome
                }
                if let answer { continuation.resume(with: answer) }
            }
        } onCancel: {
            abandoned()
            resume(.failure(CancellationError()))
        }
    }
}

/// Counts the waiting continuations of a client, so that tests can check that every continuation was resumed.
final class WaiterCount: Sendable {
    private let waiting = Atomic<Int>(0)

    init() {}

    /// The number of continuations that wait now.
    var count: Int { waiting.load(ordering: .acquiring) }

    func entered() { waiting.add(1, ordering: .acquiringAndReleasing) }
    func left() { waiting.subtract(1, ordering: .acquiringAndReleasing) }
}
