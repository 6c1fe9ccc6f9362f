import CourierCore
import MQTTCodec
import MQTTEngine
import Synchronization

/// The queue of a client's outgoing messages. Each message is one entry from its acceptance until its end.
///
/// ```
/// caller ──accept──▶ entries ──take──▶ session driver: engine, channel ──▶ socket
///                    │  ▲  ▲◀──returned──┘
///                    ▼  │
///              message store (OutgoingStore: commits in batches, reads pages)
/// ```
///
/// Any thread may add messages. The event loop takes, returns and ends them. One lock guards all state, and each
/// function holds it only briefly. The queue calls no code of the app: its functions return the ended messages, and
/// ``PublishResults`` reports their results.
///
/// - ``EntryTable`` holds the entries in order, and their bytes.
/// - ``OutgoingRules`` applies the limits, ages and pacing of ``OfflinePolicy``.
/// - `OutgoingQueue+Accept.swift` accepts messages from callers.
/// - `OutgoingQueue+Overflow.swift` makes room for a new message, or refuses it.
/// - `OutgoingQueue+RoomWaiters.swift` lets callers wait for room.
/// - `OutgoingQueue+Session.swift` gives messages to the session driver and takes them back.
/// - `OutgoingQueue+Ends.swift` ends entries.
/// - `OutgoingQueue+Expiry.swift` ends waiting messages that are too old.
/// - `OutgoingQueue+Rows.swift` has the functions for ``OutgoingStore``.
/// - `OutgoingQueue+Listing.swift` reports which messages wait, and how many.
final class OutgoingQueue: Sendable {
    typealias Instant = ContinuousClock.Instant

    /// The kind of new messages that must wake the event loop.
    enum WakeCondition {
        case anyMessage
        /// Only a QoS 0 message wakes the event loop, because the broker's quota for other messages is used up.
        case unacknowledgedMessage
        /// A new message need not wake the event loop. The loop checks the queue without being woken: after a new
        /// connection, when the socket accepts bytes again, or when the next batch may be sent.
        case nothing
    }

    struct State: ~Copyable {
        var table = EntryTable()
        var rules: OutgoingRules
        /// True if the client has a message store.
        let hasStore: Bool
        /// True if the client may use MQTT 5, whose messages have properties.
        let carriesProperties: Bool

        /// The number of destroyed sessions. Results from an earlier epoch are ignored.
        var epoch = 0
        /// The number of destroyed sessions that the event loop has ended. If it differs from ``epoch``, the loop must
        /// still end a destroyed session, and messages of the next session wait.
        var loopEpoch = 0
        /// True if `connect()` was called, and `destroy()` was not called after it.
        var hasSession = false
        /// The reason why the client accepts no more messages; `nil` while it accepts messages.
        var finish: CourierError?

        var wakeCondition = WakeCondition.nothing
        /// The waiting latest-only entry of each topic. Each key is the topic in bytes. If a newer latest-only message
        /// to the topic is accepted, it replaces the entry.
        var latest: [[UInt8]: Token] = [:]
        /// No waiting entry expires before this time.
        var nextEnd = MonotonicInstant.never
        /// The number of messages that the broker acknowledged with success.
        var acknowledgedCount = 0
        /// The number of messages that ended with an error.
        var failedCount = 0
        /// A histogram of the times between sending a message and its acknowledgement.
        var acknowledgementTimes = DurationHistogram()
        /// Decodes the topics of ended messages for events.
        var lastTopic = LastTopic()
        /// Reused memory for the encoded properties of one message.
        var scratch = PacketBuffer()
        var rows: RowState

        var isHeld: Bool { epoch != loopEpoch }
        /// ``nextEnd``, or `nil` if no waiting entry ever expires.
        var nextEndInstant: Instant? { nextEnd == .never ? nil : nextEnd.instant }
    }

    let policy: OfflinePolicy
    let state: Mutex<State>
    /// True while there is a connection. Callers read the value without the lock, so it may be out of date. If the
    /// value is true, the time of the event loop's last round is exact enough for a new message. Otherwise, callers
    /// read the clock.
    let isProbablyConnected = Atomic(false)

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

    /// The number of messages that count toward the limits of ``OfflinePolicy``.
    var waitingCount: Int { state.withLock { $0.rules.waiting.count } }

    /// The number of messages that have not ended.
    var count: Int { state.withLock { $0.table.count } }

    /// Returns true if the message has not ended.
    func contains(_ token: Token) -> Bool { state.withLock { $0.table.slot(of: token) != nil } }

    /// The number of tasks that wait until their message is stored or has ended.
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

    // MARK: Begin and end of the session

    /// Accepts messages from now on, because `connect()` was called.
    func beginSession() { state.withLock { $0.hasSession = true } }

    /// The number of destroyed sessions.
    var epoch: Int { state.withLock { $0.epoch } }

    /// The epoch of the session that the event loop works for: the number of sessions that were destroyed before it.
    /// Results of an earlier session are ignored.
    var sessionEpoch: Int { state.withLock { $0.loopEpoch } }

    /// Ends the session, because `destroy()` was called. May be called from any thread. The function calls no code of
    /// the app, so the caller may hold a lock.
    ///
    /// - Returns: All messages that had not ended before, and the callers that waited for room.
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

    /// Records that the event loop has ended the session that the app destroyed. Messages of the next session may be
    /// sent on the next connection.
    func endedSession() {
        isProbablyConnected.store(false, ordering: .relaxed)
        state.withLock { state in
            state.loopEpoch += 1
            // Ignore the result, because `destroy()` has removed all callers that waited for room.
            _ = state.rules.disconnected()
        }
    }

    /// Removes all messages from the queue, because the client has ended.
    ///
    /// - Returns: The removed messages, and the callers that waited for room.
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
