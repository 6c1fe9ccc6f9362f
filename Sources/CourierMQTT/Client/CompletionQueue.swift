import CourierCore
import Foundation
import MQTTCodec
import Synchronization

/// Calls the app's closures on the delivery queue, in order, many with one hop.
final class CompletionQueue: Sendable {
    /// How many closures one turn of the queue calls at most, so that other work of the queue gets its turn.
    static let closuresPerTurn = 1_024

    /// For how many calls memory is kept while there are none.
    private static let keptCount = 128

    /// A call to make.
    enum Call: Sendable {
        case plain(@Sendable () -> Void)
        /// The most frequent one, as its parts: joining them in a closure would cost an allocation for each message.
        case answered(PublishCompletion, PacketReasonCode)
        /// It was made.
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
        /// The calls for later turns.
        var calls: [Call] = []
        /// The calls of the present turn. Calls before `position` were made.
        var present: [Call] = []
        var position = 0
        var isScheduled = false

        /// Records that a turn is needed; returns whether the caller must request it.
        mutating func needsTurn() -> Bool {
            defer { isScheduled = true }
            return !isScheduled
        }

        /// Gives back the memory that only a burst needs, when there are no calls.
        mutating func trim(above limit: Int) {
            if present.capacity > limit { (present, position) = ([], 0) }
            if calls.capacity > limit { calls = [] }
        }
    }

    private let queue: DispatchQueue
    private let state = Mutex(State())

    init(_ queue: DispatchQueue) { self.queue = queue }

    /// Calls `closure` soon. From any thread.
    func add(_ closure: @escaping @Sendable () -> Void) { add(.plain(closure)) }

    /// Calls `completion` with the result of a publish on the delivery queue. From any thread.
    func add(_ completion: @escaping PublishCompletion, _ outcome: PublishOutcome) {
        add { completion(outcome) }
    }

    /// Makes a call soon. From any thread.
    func add(_ call: Call) {
        let needsTurn = state.withLock { state in
            state.calls.append(call)
            return state.needsTurn()
        }
        if needsTurn { queue.async { [self] in takeTurn() } }
    }

    /// Makes calls soon, and leaves `calls` empty. From any thread.
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

    /// Makes calls, and takes another turn while there are any.
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
