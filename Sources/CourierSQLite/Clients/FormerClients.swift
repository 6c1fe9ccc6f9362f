import Foundation
import Synchronization

/// The clients that had a file before, and what the present one does when all of them have stored their last steps.
final class FormerClients: Sendable {
    /// How long it waits for each of them, 10 s.
    static let patience = DispatchTimeInterval.seconds(10)

    /// Called with `false` if a former client has not finished in time.
    typealias Action = @Sendable (Bool) -> Void

    private enum State {
        case finished
        case idle
        /// What is done when they have finished, in this order.
        case waiting([Action])
    }

    private let ends: [ClientEnd]
    private let state: Mutex<State>

    init(_ ends: [ClientEnd]) {
        self.ends = ends
        state = Mutex(ends.isEmpty ? .finished : .idle)
    }

    /// Calls an action when all have finished: at once, or in the order of the calls. After a former client that takes too
    /// long, the next call waits anew.
    func whenFinished(_ action: @escaping Action) {
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

    /// Waits until all have finished; `false` if one takes too long.
    func haveFinished() async -> Bool {
        await withCheckedContinuation { continuation in whenFinished { continuation.resume(returning: $0) } }
    }

    private func wait() async {
        for end in ends where await !end.hasFinished(within: Self.patience) {
            for action in take(then: .idle) { action(false) }
            return
        }
        // What is added while the actions run is done behind them.
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

    /// Has later calls act at once; `false` if something was added meanwhile.
    private func finish() -> Bool {
        state.withLock { state in
            guard case .waiting(let actions) = state, actions.isEmpty else { return false }
            state = .finished
            return true
        }
    }
}
