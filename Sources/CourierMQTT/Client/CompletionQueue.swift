import CourierCore
import Foundation
import Synchronization

/// Calls the app's closures on the delivery queue, in order, many with one hop.
final class CompletionQueue: Sendable {
    /// How many closures one turn of the queue calls at most, so that other work of the queue gets its turn.
    static let closuresPerTurn = 1_024

    /// A call to make.
    private enum Call: Sendable {
        case plain(@Sendable () -> Void)
        /// The most frequent one, as its parts: joining them in a closure would cost an allocation for each message.
        case published(@Sendable (PublishLedger.Outcome) -> Void, PublishLedger.Outcome)

        func perform() {
            switch self {
            case .plain(let closure): closure()
            case .published(let completion, let outcome): completion(outcome)
            }
        }
    }

    private struct State {
        var calls: [Call] = []
        var isScheduled = false
    }

    private let queue: DispatchQueue
    private let state = Mutex(State())

    init(_ queue: DispatchQueue) { self.queue = queue }

    /// Calls `closure` soon. From any thread.
    func add(_ closure: @escaping @Sendable () -> Void) { add(.plain(closure)) }

    /// Tells `completion` soon how a publish ended. From any thread.
    func add(_ completion: @escaping @Sendable (PublishLedger.Outcome) -> Void, _ outcome: PublishLedger.Outcome) {
        add(.published(completion, outcome))
    }

    private func add(_ call: Call) {
        let needsTurn = state.withLock { state in
            state.calls.append(call)
            defer { state.isScheduled = true }
            return !state.isScheduled
        }
        if needsTurn { queue.async { [self] in takeTurn([]) } }
    }

    /// Makes calls, those in `left` first, and takes another turn while there are any.
    private func takeTurn(_ left: ArraySlice<Call>) {
        var calls = left
        if calls.isEmpty {
            calls = state.withLock { state in
                let calls = state.calls
                state.calls = []
                state.isScheduled = !calls.isEmpty
                return calls[...]
            }
        }
        guard !calls.isEmpty else { return }
        for call in calls.prefix(Self.closuresPerTurn) { call.perform() }
        let rest = calls.dropFirst(Self.closuresPerTurn)
        queue.async { [self] in takeTurn(rest) }
    }
}
