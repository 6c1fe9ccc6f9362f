import CourierCore
import Foundation
import MQTTCodec
import Synchronization

/// Calls the app's closures on the delivery queue, in the order in which they were added. Each dispatched block calls
/// many closures, because a block for each closure would cost more.
final class CompletionQueue: Sendable {
    /// The maximum number of closures that one block calls, so that other work of the queue is not delayed for long.
    static let closuresPerTurn = 1_024

    /// The number of calls for which the queue keeps memory while it contains no calls.
    private static let keptCount = 128

    /// A call of an app's closure.
    enum Call: Sendable {
        case plain(@Sendable () -> Void)
        /// The result of a publish, which is the most frequent call. Completion and reason code are stored separately,
        /// because a closure that captures both would cost an allocation for each message.
        case answered(PublishCompletion, PacketReasonCode)
        /// A call that was already performed.
        case done

        fileprivate consuming func perform() {
            switch consume self {
            case .plain(let closure): closure()
            case .answered(let completion, let code): completion(.success(PublishReceipt(code, [])))
            case .done: break
            }
        }
    }

    /// The calls that wait, and the calls that the current block performs.
    private struct State {
        /// The calls that a later block performs.
        var calls: [Call] = []
        /// The calls that the current block performs. The calls before the index `position` are already performed.
        var present: [Call] = []
        var position = 0
        var isScheduled = false

        /// Returns true if no block is dispatched yet. The caller must then dispatch a block, and this method records
        /// that a block is dispatched.
        mutating func needsTurn() -> Bool {
            defer { isScheduled = true }
            return !isScheduled
        }

        /// Frees the memory of a list if its capacity is above `limit`, for example after many calls at once. Called
        /// when there are no calls.
        mutating func trim(above limit: Int) {
            if present.capacity > limit { (present, position) = ([], 0) }
            if calls.capacity > limit { calls = [] }
        }
    }

    private let queue: DispatchQueue
    private let state = Mutex(State())

    init(_ queue: DispatchQueue) { self.queue = queue }

    /// Adds a closure to call on the delivery queue. May be called from any thread.
    func add(_ closure: @escaping @Sendable () -> Void) { add(.plain(closure)) }

    /// Adds a call of `completion` with the result of a publish. May be called from any thread.
    func add(_ completion: @escaping PublishCompletion, _ outcome: PublishOutcome) {
        add { completion(outcome) }
    }

    /// Adds a call. May be called from any thread.
    func add(_ call: Call) {
        let needsTurn = state.withLock { state in
            state.calls.append(call)
            return state.needsTurn()
        }
        if needsTurn { queue.async { [self] in takeTurn() } }
    }

    /// Adds calls, and leaves `calls` empty. May be called from any thread.
    func add(_ calls: inout [Call]) {
        if calls.isEmpty { return }
        let needsTurn = state.withLock { state in
            if state.calls.isEmpty {
                swap(&state.calls, &calls)
            } else {
                for index in calls.indices { state.calls.append(exchange(&calls[index], with: .done)) }
            }
            return state.needsTurn()
        }
        calls.removeAll(keepingCapacity: true)
        if needsTurn { queue.async { [self] in takeTurn() } }
    }

    /// Calls at most `closuresPerTurn` closures on the delivery queue. If more calls remain, dispatches another block
    /// for them.
    private func takeTurn() {
        var calls: [Call] = []
        var position = state.withLock { state in
            if state.position == state.present.count {
                state.present.removeAll(keepingCapacity: true)
                state.position = 0
                swap(&state.present, &state.calls)
            }
            swap(&state.present, &calls)
            return state.position
        }
        let end = min(position + Self.closuresPerTurn, calls.count)
        while position < end {
            exchange(&calls[position], with: .done).perform()
            position += 1
        }
        let isDone = state.withLock { state in
            swap(&state.present, &calls)
            state.position = position
            guard position == state.present.count, state.calls.isEmpty else { return false }
            state.isScheduled = false
            state.trim(above: Self.keptCount)
            return true
        }
        if !isDone { queue.async { [self] in takeTurn() } }
    }
}
