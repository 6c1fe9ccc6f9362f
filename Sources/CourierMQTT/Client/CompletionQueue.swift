import Foundation
import Synchronization

/// Calls the app's closures on the delivery queue, in order, many with one hop.
final class CompletionQueue: Sendable {
    /// How many closures one turn of the queue calls at most, so that other work of the queue gets its turn.
    static let closuresPerTurn = 256

    private struct State {
        var closures: [@Sendable () -> Void] = []
        var isScheduled = false
    }

    private let queue: DispatchQueue
    private let state = Mutex(State())

    init(_ queue: DispatchQueue) { self.queue = queue }

    /// Calls `closure` soon. From any thread.
    func add(_ closure: @escaping @Sendable () -> Void) {
        let needsTurn = state.withLock { state in
            state.closures.append(closure)
            defer { state.isScheduled = true }
            return !state.isScheduled
        }
        if needsTurn { takeTurn() }
    }

    private func takeTurn() {
        queue.async { [self] in
            let (closures, hasMore) = state.withLock { state in
                let count = min(state.closures.count, Self.closuresPerTurn)
                let closures = count == state.closures.count ? state.closures : Array(state.closures[..<count])
                if count == state.closures.count { state.closures = [] } else { state.closures.removeFirst(count) }
                state.isScheduled = !state.closures.isEmpty
                return (closures, state.isScheduled)
            }
            for closure in closures { closure() }
            if hasMore { takeTurn() }
        }
    }
}
