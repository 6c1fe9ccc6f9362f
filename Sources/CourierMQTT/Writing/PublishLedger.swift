import CourierCore
import MQTTCodec
import MQTTEngine
import Synchronization

/// Who wants to know how a publish ended: callers enter, and the event loop takes out by token.
///
/// A flat table with a free list: a token is a place in it and the number of its use, so that a token that is answered
/// twice finds nothing. Messages that nobody asks about have ``PublishLedger/anonymous`` and cost nothing here.
///
/// What waits in it is resumed exactly once, unsafe continuations too: every way out of the table empties the place under
/// the lock, and whoever has emptied it resumes what stood there, or hands it to somebody who does.
final class PublishLedger: Sendable {
    /// How one publish ended.
    typealias Outcome = Result<PublishReceipt, CourierError>

    /// The app's closure for it.
    typealias Completion = @Sendable (Outcome) -> Void

    /// A task that waits for it.
    typealias Continuation = UnsafeContinuation<Word, Never>

    /// What a task is told, in a few bytes: a continuation for each message moves it about.
    enum Word: Sendable {
        /// The broker has answered.
        case answered(PacketReasonCode)
        indirect case ended(Outcome)
        /// The task was cancelled; the delivery goes on.
        case cancelled
        /// The message was not taken.
        case notTaken
    }

    /// The broker's word on one publish.
    struct Answer {
        let token: Token
        let code: PacketReasonCode
    }

    /// What became free by an answer, to be done without the lock.
    struct Freed {
        var tasks: [(task: Continuation, code: PacketReasonCode)] = []
        /// What takes more than telling a task or a completion.
        var others: [(entry: Entry, code: PacketReasonCode)] = []

        /// Forgets all, and keeps memory for at most `count`.
        mutating func removeAll(keeping count: Int) {
            if !tasks.isEmpty { tasks.removeAll(keepingCapacity: tasks.capacity <= count) }
            if !others.isEmpty { others.removeAll(keepingCapacity: others.capacity <= count) }
        }
    }

    /// Who is told.
    enum Recipient: Sendable {
        case waiter(Waiter<PublishReceipt>)
        case task(Continuation)
        /// The app's closure, to be called on the delivery queue.
        case completion(Completion)
        case nobody
    }

    /// What is known of a publish until it ends.
    struct Entry: Sendable {
        let recipient: Recipient
        /// What events and errors say of the message.
        let topic: String
        let qos: QoS
        /// The payload for the events, which nobody listens to when it is `nil`.
        let payload: [UInt8]?
    }

    /// The token of messages that have no entry.
    static let anonymous: Token = 0

    /// A place in the table. The recipient stands in it as its parts, which cost less to move than an enumeration of them.
    private struct Slot {
        var use: UInt32 = 1
        /// The next free place behind this one, while it is free.
        var nextFree = Slot.none
        var isTaken = false
        var qos = QoS.zero
        var completion: Completion?
        var task: Continuation?
        var waiter: Waiter<PublishReceipt>?
        var topic = ""
        var payload: [UInt8]?

        static let none = UInt32.max
    }

    private struct State {
        var slots: [Slot] = []
        /// The place that became free last.
        var firstFree = Slot.none
        var count = 0
        var taskCount = 0

        /// A place for a publish.
        mutating func place(_ topic: String, _ qos: QoS) -> Int {
            let index: Int
            if firstFree == Slot.none {
                index = slots.count
                slots.append(Slot())
            } else {
                index = Int(firstFree)
                firstFree = slots[index].nextFree
            }
            slots[index].isTaken = true
            slots[index].topic = topic
            slots[index].qos = qos
            count += 1
            return index
        }

        mutating func wait(_ task: Continuation, at index: Int) {
            slots[index].task = task
            taskCount += 1
        }

        func token(at index: Int) -> Token {
            Token(rawValue: UInt64(slots[index].use) << 32 | UInt64(index))
        }

        /// The place of a publish that has not ended.
        func index(of token: Token) -> Int? {
            let index = Int(truncatingIfNeeded: token.rawValue & 0xFFFF_FFFF)
            let use = UInt32(truncatingIfNeeded: token.rawValue >> 32)
            return index < slots.count && slots[index].isTaken && slots[index].use == use ? index : nil
        }

        mutating func take(at index: Int) -> Entry {
            let recipient: Recipient =
                if let completion = exchange(&slots[index].completion, with: nil) {
                    .completion(completion)
                } else if let task = slots[index].task {
                    .task(task)
                } else if let waiter = slots[index].waiter {
                    .waiter(waiter)
                } else {
                    .nobody
                }
            let entry = Entry(
                recipient: recipient, topic: slots[index].topic, qos: slots[index].qos, payload: slots[index].payload)
            slots[index].waiter = nil
            slots[index].payload = nil
            free(index)
            return entry
        }

        /// Empties the place of a task or of a completion that was taken out.
        mutating func free(_ index: Int) {
            if slots[index].task != nil {
                slots[index].task = nil
                taskCount -= 1
            }
            slots[index].topic = ""
            slots[index].isTaken = false
            // A use is never 0 with place 0, which is the anonymous token; the highest bit is kept for others.
            slots[index].use = slots[index].use >= 0x7FFF_FFFF ? 1 : slots[index].use + 1
            slots[index].nextFree = firstFree
            firstFree = UInt32(truncatingIfNeeded: index)
            count -= 1
        }
    }

    private let state = Mutex(State())

    init() {}

    /// How many publishes have not ended.
    var count: Int { state.withLock { $0.count } }

    /// How many tasks wait in the table.
    var waitingCount: Int { state.withLock { $0.taskCount } }

    /// Enters a publish. From any thread.
    func enter(_ entry: Entry) -> Token {
        state.withLock { state in
            let index = state.place(entry.topic, entry.qos)
            switch entry.recipient {
            case .waiter(let waiter): state.slots[index].waiter = waiter
            case .task(let task): state.wait(task, at: index)
            case .completion(let completion): state.slots[index].completion = completion
            case .nobody: break
            }
            state.slots[index].payload = entry.payload
            return state.token(at: index)
        }
    }

    /// Enters a publish whose end a closure is told, and no event. From any thread.
    func enter(_ completion: @escaping Completion, _ topic: String, _ qos: QoS) -> Token {
        state.withLock { state in
            let index = state.place(topic, qos)
            state.slots[index].completion = completion
            return state.token(at: index)
        }
    }

    /// Enters a publish whose end a task is told, and no event. From any thread.
    func enter(_ task: Continuation, _ topic: String, _ qos: QoS) -> Token {
        state.withLock { state in
            let index = state.place(topic, qos)
            state.wait(task, at: index)
            return state.token(at: index)
        }
    }

    /// Takes a publish out; `nil` when it has ended before, or is anonymous.
    func take(_ token: Token) -> Entry? {
        guard token != Self.anonymous else { return nil }
        return state.withLock { state in state.index(of: token).map { state.take(at: $0) } }
    }

    /// Takes out publishes that were answered, in their order: what completions are told goes to `calls`, the rest to
    /// `freed`.
    func take(_ answers: ArraySlice<Answer>, _ calls: inout [CompletionQueue.Call], _ freed: inout Freed) {
        state.withLock { state in
            for answer in answers {
                guard let index = state.index(of: answer.token) else { continue }
                if let task = state.slots[index].task {
                    freed.tasks.append((task, answer.code))
                    state.free(index)
                    continue
                }
                if let completion = exchange(&state.slots[index].completion, with: nil) {
                    calls.append(Self.call(completion, answer.code, state.slots[index].topic))
                }
                if state.slots[index].payload == nil, state.slots[index].waiter == nil {
                    state.free(index)
                } else {
                    freed.others.append((state.take(at: index), answer.code))
                }
            }
        }
    }

    private static func call(
        _ completion: @escaping Completion, _ code: PacketReasonCode, _ topic: String
    ) -> CompletionQueue.Call {
        guard code.isFailure else { return .answered(completion, code) }
        return .plain { completion(PublishEnds.outcome(.refused(code, []), topic)) }
    }

    /// Takes everything out.
    func takeAll() -> [Entry] {
        state.withLock { state in
            state.slots.indices.filter { state.slots[$0].isTaken }.map { state.take(at: $0) }
        }
    }
}
