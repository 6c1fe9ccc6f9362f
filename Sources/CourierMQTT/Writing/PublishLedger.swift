import CourierCore
import MQTTCodec
import MQTTEngine

/// Who wants to know how a publish ended: callers enter, and the event loop takes out by token.
///
/// A token is a key of its ``PlaceTable``, so that one that is answered twice finds nothing. Messages that nobody asks
/// about have ``PublishLedger/anonymous`` and cost nothing here.
///
/// What waits in it is resumed exactly once, unsafe continuations too: every way out of the table empties the place, which
/// one alone can, and whoever has emptied it resumes what stood there, or hands it to somebody who does.
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

    /// What became free by answers, to be told.
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

    /// What stands in the table: the recipient as its parts, which cost less to move than an enumeration of them. No
    /// copies, because each would count the references of what waits.
    private struct Slot: ~Copyable {
        var completion: Completion?
        var task: Continuation?
        var waiter: Waiter<PublishReceipt>?
        let topic: String
        var payload: [UInt8]?
        let qos: QoS

        consuming func entry() -> Entry {
            let recipient: Recipient =
                if let completion {
                    .completion(completion)
                } else if let task {
                    .task(task)
                } else if let waiter {
                    .waiter(waiter)
                } else {
                    .nobody
                }
            return Entry(recipient: recipient, topic: topic, qos: qos, payload: payload)
        }
    }

    private let places = PlaceTable<Slot>()

    init() {}

    /// How many publishes have not ended.
    var count: Int { places.count }

    /// How many tasks wait in the table.
    var waitingCount: Int { places.markedCount }

    /// Enters a publish. From any thread.
    func enter(_ entry: Entry) -> Token {
        var slot = Slot(topic: entry.topic, payload: entry.payload, qos: entry.qos)
        var isTask = false
        switch entry.recipient {
        case .waiter(let waiter): slot.waiter = waiter
        case .task(let task): (slot.task, isTask) = (task, true)
        case .completion(let completion): slot.completion = completion
        case .nobody: break
        }
        return Token(rawValue: places.insert(slot, isMarked: isTask))
    }

    /// Enters a publish whose end a closure is told, and no event. From any thread.
    func enter(_ completion: Completion?, _ topic: String, _ qos: QoS) -> Token {
        Token(rawValue: places.insert(Slot(completion: completion, topic: topic, qos: qos)))
    }

    /// Enters a publish whose end a task is told, and no event. From any thread.
    func enter(_ task: Continuation, _ topic: String, _ qos: QoS) -> Token {
        Token(rawValue: places.insert(Slot(task: task, topic: topic, qos: qos), isMarked: true))
    }

    /// Takes a publish out; `nil` when it has ended before, or is anonymous. From any thread.
    func take(_ token: Token) -> Entry? { places.take(token.rawValue)?.entry() }

    /// Takes out publishes that were answered, in their order: what completions are told goes to `calls`, the rest to
    /// `freed`.
    func take(_ answers: [Answer], _ calls: inout [CompletionQueue.Call], _ freed: inout Freed) {
        var emptied = PlaceTable<Slot>.Chain()
        for answer in answers {
            guard var slot = places.take(answer.token.rawValue, into: &emptied) else { continue }
            if let task = slot.task {
                freed.tasks.append((task, answer.code))
                continue
            }
            if let completion = exchange(&slot.completion, with: nil) {
                if answer.code.isFailure {
                    calls.append(Self.refusal(completion, answer.code, slot.topic))
                } else {
                    calls.append(.answered(completion, answer.code))
                }
            }
            if slot.payload != nil || slot.waiter != nil { freed.others.append((slot.entry(), answer.code)) }
        }
        places.free(emptied)
    }

    private static func refusal(
        _ completion: @escaping Completion, _ code: PacketReasonCode, _ topic: String
    ) -> CompletionQueue.Call {
        .plain { completion(PublishEnds.outcome(.refused(code, []), topic)) }
    }

    /// Takes everything out. From any thread.
    func takeAll() -> [Entry] {
        var entries: [Entry] = []
        places.takeAll { entries.append($0.entry()) }
        return entries
    }
}
