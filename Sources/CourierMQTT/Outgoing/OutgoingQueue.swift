import CourierCore
import MQTTCodec
import MQTTEngine
import Synchronization

/// The one queue of a client's outgoing messages: a message is one entry from the accepted call until its end.
///
/// ```
/// caller ──accept──▶ entries ──take──▶ session: engine and channel ──▶ socket
///                    │  ▲  ▲◀──returned──┘
///                    ▼  │
///              message store (OutgoingStore: commits in batches, reads pages)
/// ```
///
/// Any thread accepts messages; the event loop takes, returns and ends them. One lock guards all state, for a few lines at a
/// time. The queue calls no code of others: functions return what ended, and ``PublishResults`` reports it.
///
/// - ``EntryTable`` holds the entries in order, and their bytes.
/// - ``OutgoingRules`` knows the limits, ages and pacing of ``OfflinePolicy``.
/// - `OutgoingQueue+Accept.swift`: from callers into the queue.
/// - `OutgoingQueue+Session.swift`: to the session and back.
/// - `OutgoingQueue+Ends.swift`: every end of an entry.
/// - `OutgoingQueue+Rows.swift`: what ``OutgoingStore`` needs.
final class OutgoingQueue: Sendable {
    typealias Instant = ContinuousClock.Instant

    /// Which new messages the event loop must be woken for.
    enum WakeCondition {
        case anyMessage
        /// The broker's quota is used up, so that only QoS 0 can go out.
        case unacknowledgedMessage
        /// The loop looks by itself: when a connection comes, the socket takes bytes again, or a batch is done.
        case nothing
    }

    struct State: ~Copyable {
        var table = EntryTable()
        var rules: OutgoingRules
        /// Whether messages belong into a message store.
        let hasStore: Bool
        /// Whether a broker may speak MQTT 5, which carries properties.
        let carriesProperties: Bool

        /// The number of destroyed sessions. What belongs to an earlier one is late.
        var epoch = 0
        /// The session that the event loop works for. While it differs from ``epoch``, the loop has yet to end the session,
        /// and messages wait for the next one.
        var loopEpoch = 0
        /// Whether `connect()` was called, and `destroy()` was not called since.
        var hasSession = false
        /// Why the client accepts no more messages.
        var finish: CourierError?

        var wakeCondition = WakeCondition.nothing
        /// The waiting entry to a topic that a newer message replaces, by the topic's bytes.
        var latest: [[UInt8]: Token] = [:]
        /// No waiting entry expires before.
        var nextEnd = MonotonicInstant.never
        /// For the events of messages that ended.
        var lastTopic = LastTopic()
        /// Memory for the encoded properties of one message.
        var scratch = PacketBuffer()
        var rows: RowState

        var isHeld: Bool { epoch != loopEpoch }
        /// The same as ``nextEnd``; `nil` if no waiting entry ever expires.
        var nextEndInstant: Instant? { nextEnd == .never ? nil : nextEnd.instant }
    }

    let policy: OfflinePolicy
    let state: Mutex<State>

    init(
        _ policy: OfflinePolicy, hasStore: Bool, carriesProperties: Bool = true,
        memoryCount: Int = RowState.defaultMemoryCount
    ) {
        self.policy = policy
        state = Mutex(
            State(
                rules: OutgoingRules(policy), hasStore: hasStore, carriesProperties: carriesProperties,
                rows: RowState(memoryCount: memoryCount)))
    }

    /// The number of messages that count toward the limits.
    var waitingCount: Int { state.withLock { $0.rules.waiting.count } }

    /// The number of messages that have not ended.
    var count: Int { state.withLock { $0.table.count } }

    /// Whether a message has not ended.
    func contains(_ token: Token) -> Bool { state.withLock { $0.table.slot(of: token) != nil } }

    /// The number of tasks that wait in entries.
    var waitingTaskCount: Int {
        state.withLock { state in
            var count = 0
            var slot = state.table.first
            while let one = slot {
                switch state.table[one].recipient {
                case .task, .acceptance: count += 1
                case .nobody, .completion: break
                }
                slot = state.table.next(after: one)
            }
            return count
        }
    }

    // MARK: The session's life

    /// `connect()` was called: messages are accepted.
    func beginSession() { state.withLock { $0.hasSession = true } }

    /// The number of destroyed sessions.
    var epoch: Int { state.withLock { $0.epoch } }

    /// The epoch of the session that the event loop works for. Results of an earlier session are late.
    var sessionEpoch: Int { state.withLock { $0.loopEpoch } }

    /// Gives the session up. From any thread; nothing is reported yet, so that a caller may hold a lock.
    ///
    /// - Returns: All messages that have not ended, and the callers that wait for room.
    func destroy() -> Remains {
        state.withLock { state in
            state.hasSession = false
            state.epoch += 1
            state.wakeCondition = .nothing
            state.rows.endSession()
            state.rules.setUnread(0)
            return state.takeAll(.destroyed)
        }
    }

    /// The event loop has ended a destroyed session: later messages may go out with the next connection.
    func endedSession() {
        state.withLock { state in
            state.loopEpoch += 1
            _ = state.rules.disconnected()  // `destroy()` has resumed all callers that wait for room.
        }
    }

    /// The client has ended.
    ///
    /// - Returns: All messages that have not ended, and the callers that wait for room.
    func finish(_ error: CourierError) -> Remains {
        state.withLock { state in
            state.finish = error
            return state.takeAll(.clientEnded(error))
        }
    }

    /// The messages and callers of a session that ends.
    struct Remains: Sendable {
        var ended: [EndedPublish] = []
        var roomWaiters: [Waiter<Void>] = []
    }
}
