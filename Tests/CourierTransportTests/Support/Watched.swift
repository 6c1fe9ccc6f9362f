import Dispatch
import Synchronization
import TestSupport

/// A value that tests can wait for, without sleeping.
final class Watched<Value: Sendable>: Sendable {
    private struct Waiter: Sendable {
        let id: Int
        let isSatisfied: @Sendable (Value) -> Bool
        let continuation: CheckedContinuation<Value?, Never>
    }

    private struct State: Sendable {
        var value: Value
        var waiters: [Waiter] = []
        var nextID = 0
    }

    struct Late: Error, CustomStringConvertible {
        let description: String
    }

    private let state: Mutex<State>

    init(_ value: Value) { state = Mutex(State(value: value)) }

    var value: Value { state.withLock { $0.value } }

    func update(_ change: @Sendable (inout Value) -> Void) {
        let (value, satisfied) = state.withLock { state in
            change(&state.value)
            let value = state.value
            let satisfied = state.waiters.filter { $0.isSatisfied(value) }
            state.waiters.removeAll { $0.isSatisfied(value) }
            return (value, satisfied)
        }
        for waiter in satisfied { waiter.continuation.resume(returning: value) }
    }

    /// Waits until the value satisfies the condition, and returns it. Throws if that takes too long.
    @discardableResult
    func wait(_ what: String, until isSatisfied: @escaping @Sendable (Value) -> Bool) async throws -> Value {
        let result = await withCheckedContinuation { (continuation: CheckedContinuation<Value?, Never>) in
            let (now, id) = state.withLock { state -> (Value?, Int) in
                if isSatisfied(state.value) { return (state.value, 0) }
                state.nextID += 1
                state.waiters.append(Waiter(id: state.nextID, isSatisfied: isSatisfied, continuation: continuation))
                return (nil, state.nextID)
            }
            if let now { return continuation.resume(returning: now) }
            let patience = DispatchTimeInterval.seconds(Int(Duration.patience.components.seconds))
            DispatchQueue.global().asyncAfter(deadline: .now() + patience) { [weak self] in self?.giveUp(id) }
        }
        guard let result else {
            throw Late(description: "\(what) did not come within \(Duration.patience); now: \(value)")
        }
        return result
    }

    private func giveUp(_ id: Int) {
        let waiter = state.withLock { state -> Waiter? in
            guard let index = state.waiters.firstIndex(where: { $0.id == id }) else { return nil }
            return state.waiters.remove(at: index)
        }
        waiter?.continuation.resume(returning: nil)
    }
}
