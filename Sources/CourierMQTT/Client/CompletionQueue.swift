import CourierCore
import Foundation
import MQTTCodec
import Synchronization

/// Calls the app's closures on the delivery queue, in the order in which they were added. Each dispatched block calls
/// many closures, which costs less than a block for each closure.
final class CompletionQueue: Sendable {
    /// The maximum number of closures that one block calls, so that other work of the queue is not delayed for long.
    static let closuresPerTurn = 1_024

    /// While there are no calls, memory for at most this number of calls remains reserved.
    private static let keptCount = 128

    /// A call of an app's closure.
    enum Call: Sendable {
        case plain(@Sendable () -> Void)
        /// The result of a publish, the most frequent call. Completion and reason code are stored separately. A closure
        /// that captures both would cost an allocation for each message.
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

    private struct State {
        /// The calls that a later block performs.
        var calls: [Call] = []
        /// The calls that the current block performs. Calls before `position` were already performed.
        var present: [Call] = []
        var position = 0
        var isScheduled = false

        /// Records that a block is needed. Returns true if the caller must dispatch it.
        mutating func needsTurn() -> Bool {
            defer { isScheduled = true }
            return !isScheduled
        }

        /// Frees the memory of a list if its capacity is above `limit`. A burst of calls may have needed this capacity.
        /// Called when there are no calls.
        mutating func trim(above limit: Int) {
            if present.capacity > limit { (present, position) = ([], 0) }
            if calls.capacity > limit { calls = [] }
        }
    }

    private let queue: DispatchQueue
    private let state = Mutex(State())

    init(_ queue: DispatchQueue) { self.queue = queue }

    /// Adds a closure to call on the delivery queue. From any thread.
    func add(_ closure: @escaping @Sendable () -> Void) { add(.plain(closure)) }

    /// Adds a call of `completion` with the result of a publish. From any thread.
    func add(_ completion: @escaping PublishCompletion, _ outcome: PublishOutcome) {
        add { completion(outcome) }
    }

    /// Adds a call. From any thread.
    func add(_ call: Call) {
        let needsTurn = state.withLock { state in
            state.calls.append(call)
            return state.needsTurn()
        }
        if needsTurn { queue.async { [self] in takeTurn() } }
    }

    /// Adds calls, and leaves `calls` empty. From any thread.
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

    /// Performs calls on the delivery queue, and dispatches another block if calls remain.
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
