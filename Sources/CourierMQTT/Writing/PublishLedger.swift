import CourierCore
import MQTTEngine
import Synchronization

/// Who wants to know how a publish ended: callers enter, and the event loop takes out by token.
///
/// A flat table with a free list: a token is a place in it and the number of its use, so that a token that is answered
/// twice finds nothing. Messages that nobody asks about have ``PublishLedger/anonymous`` and cost nothing here.
final class PublishLedger: Sendable {
    /// How one publish ended.
    typealias Outcome = Result<PublishReceipt, CourierError>

    /// Who is told.
    enum Recipient: Sendable {
        case waiter(Waiter<PublishReceipt>)
        /// The app's closure, to be called on the delivery queue.
        case completion(@Sendable (Outcome) -> Void)
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

    private struct Slot {
        var entry: Entry?
        var use: UInt32 = 1
    }

    private struct State {
        var slots: [Slot] = []
        var free: [UInt32] = []
    }

    private let state = Mutex(State())

    init() {}

    /// How many publishes have not ended.
    var count: Int { state.withLock { $0.slots.count - $0.free.count } }

    /// Enters a publish. From any thread.
    func enter(_ entry: Entry) -> Token {
        state.withLock { state in
            let index: UInt32
            if let free = state.free.popLast() {
                index = free
            } else {
                index = UInt32(truncatingIfNeeded: state.slots.count)
                state.slots.append(Slot())
            }
            state.slots[Int(index)].entry = entry
            return Token(rawValue: UInt64(state.slots[Int(index)].use) << 32 | UInt64(index))
        }
    }

    /// Takes a publish out; `nil` when it has ended before, or is anonymous.
    func take(_ token: Token) -> Entry? {
        guard token != Self.anonymous else { return nil }
        let index = Int(truncatingIfNeeded: token.rawValue & 0xFFFF_FFFF)
        let use = UInt32(truncatingIfNeeded: token.rawValue >> 32)
        return state.withLock { state in
            guard index < state.slots.count, state.slots[index].use == use else { return nil }
            guard let entry = state.slots[index].entry.take() else { return nil }
            // A use is never 0 with place 0, which is the anonymous token; the highest bit is kept for others.
            state.slots[index].use = use >= 0x7FFF_FFFF ? 1 : use + 1
            state.free.append(UInt32(truncatingIfNeeded: index))
            return entry
        }
    }

    /// Takes everything out.
    func takeAll() -> [Entry] {
        state.withLock { state in
            let entries = state.slots.compactMap(\.entry)
            for index in state.slots.indices where state.slots[index].entry != nil {
                state.slots[index].entry = nil
                state.slots[index].use += 1
                state.free.append(UInt32(truncatingIfNeeded: index))
            }
            return entries
        }
    }
}
