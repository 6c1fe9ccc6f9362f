import Foundation
import Synchronization

/// The former clients of a file, which are the clients that used it before the present client. The actions of the
/// present client wait here until all former clients have stored their last changes.
final class FormerClients: Sendable {
    /// The longest wait for each former client (a client that used the file before), 10 s.
    static let patience = DispatchTimeInterval.seconds(10)

    /// A closure that waits for the former clients. Its parameter is `true` if all former clients have finished, and
    /// `false` if a former client has not finished in time.
    typealias Action = @Sendable (Bool) -> Void

    /// Whether the former clients (the clients that used the file before) have finished.
    private enum State {
        case finished
        case idle
        /// The actions to run, in this order, when all former clients have finished.
        case waiting([Action])
    }

    private let ends: [ClientEnd]
    private let state: Mutex<State>

    init(_ ends: [ClientEnd]) {
        self.ends = ends
        state = Mutex(ends.isEmpty ? .finished : .idle)
    }

    /// Runs an action when all former clients (which used the file before) have finished. If they have already
    /// finished, runs the action at once. Actions run in the order of the calls. If a former client takes too long, the
    /// action is called with `false`. The next call of this method then waits again for the former clients.
    func whenFinished(_ action: @escaping Action) {
        /// The next step of `whenFinished(_:)`: run the action, start to wait for the former clients, or do nothing.
        enum Next { case act, wait, nothing }
        let next = state.withLock { state -> Next in
            switch state {
            case .finished: return .act
            case .idle:
                state = .waiting([action])
                return .wait
            case .waiting(let actions):
                state = .waiting(actions + [action])
                return .nothing
            }
        }
        switch next {
        case .act: action(true)
        case .wait: Task { await wait() }
        case .nothing: break
        }
    }

    /// Waits until all former clients (which used the file before) have finished. Returns `false` if a former client
    /// takes too long.
    func haveFinished() async -> Bool {
        await withCheckedContinuation { continuation in whenFinished { continuation.resume(returning: $0) } }
    }

    private func wait() async {
        for end in ends where await !end.hasFinished(within: Self.patience) {
            for action in take(then: .idle) { action(false) }
            return
        }
        // An action that is added during this loop runs in a later round of the loop.
        while true {
            let actions = take(then: .waiting([]))
            if actions.isEmpty, finish() { return }
            for action in actions { action(true) }
        }
    }

    private func take(then next: State) -> [Action] {
        state.withLock { state in
            guard case .waiting(let actions) = state else { return [] }
            state = next
            return actions
        }
    }

    /// Makes later calls of `whenFinished` run their action at once. If an action was added while the last actions ran,
    /// changes nothing and returns `false`.
    private func finish() -> Bool {
        state.withLock { state in
            guard case .waiting(let actions) = state, actions.isEmpty else { return false }
            state = .finished
            return true
        }
    }
}
