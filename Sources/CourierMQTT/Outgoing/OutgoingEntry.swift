import CourierCore
import MQTTCodec
import MQTTEngine

/// One accepted publish, from the call until its end.
///
/// ```
/// storing ──stored──▶ ready ──taken by the session──▶ inFlight ──acknowledged, failed──▶ ended
///                     │  ▲ ◀──────session lost──────────┘
///          memory full▼  │page read
///                     onDisk
/// ```
///
/// Every waiting entry may also end by a rule: it expired, a newer message replaced it, or a limit dropped it.
struct OutgoingEntry: ~Copyable {
    enum State: UInt8 {
        /// There is no entry.
        case free
        /// The message store does not have the message yet.
        case storing
        /// The session may take the message.
        case ready
        /// Only the message store has the message's bytes.
        case onDisk
        /// The session has the message.
        case inFlight
    }

    struct Flags: OptionSet {
        let rawValue: UInt8

        /// The entry counts toward the limits of ``OfflinePolicy``.
        static let isCounted = Flags(rawValue: 1)
        /// This process accepted the message, and the session has never taken it.
        static let isDroppable = Flags(rawValue: 2)
        /// Events report the message's end.
        static let isObserved = Flags(rawValue: 4)
        /// A newer message to the same topic replaces it.
        static let isLatestOnly = Flags(rawValue: 8)
        /// A commit with the message is running.
        static let isCommitting = Flags(rawValue: 16)
    }

    /// Messages that keep their order among each other. Between lanes, order holds as far as no message has to wait.
    enum Lane: UInt8, CaseIterable {
        /// QoS 0: needs no acknowledgement, so it passes messages that wait for one.
        case unacknowledged
        /// QoS 1 and 2 without a message store.
        case memory
        /// QoS 1 and 2 that the message store has, or is to get.
        case stored
    }

    /// The entry's name, and its position among all entries. Given by ``EntryRing``.
    var number = 0
    /// When the entry expires if the session has not taken it.
    var end = MonotonicInstant.never
    var recipient = PublishRecipient.nobody
    var state = State.free
    var flags: Flags = []
    var lane = Lane.memory
    /// The message's bytes in memory.
    var place: MessageMemory.Place?
    var qos = QoS.zero
    /// The bytes of topic, properties and payload, which are fewer than 2^28.
    var size: UInt32 = 0
    /// The message's row in the message store; `nil` for messages that are not stored.
    var row: OutgoingRow?

    /// The bytes of topic, properties and payload.
    var byteCount: Int { Int(size) }

    /// Whether the session may still take the entry.
    var isWaiting: Bool {
        switch state {
        case .storing, .ready, .onDisk: true
        case .free, .inFlight: false
        }
    }

    /// The entry has ended: only its number remains.
    @inline(__always)
    mutating func clear() {
        state = .free
        flags = []
        recipient = .nobody
        row = nil
        place = nil
    }
}

/// The caller that learns how a publish ended.
enum PublishRecipient: Sendable {
    case nobody
    /// A closure of the app, called on the delivery queue.
    case completion(PublishCompletion)
    /// A task that waits for the end.
    case task(PublishContinuation)
    /// A task that waits until the message is stored.
    case acceptance(PublishContinuation)
}

/// How one publish ended.
typealias PublishOutcome = Result<PublishReceipt, CourierError>

/// The app's closure for the end of a publish.
typealias PublishCompletion = @Sendable (PublishOutcome) -> Void

/// A task that waits for the end of a publish. The queue resumes it exactly once: only the caller that removed it from its
/// entry can do so.
typealias PublishContinuation = UnsafeContinuation<PublishAnswer, Never>

/// The answer to a waiting task.
enum PublishAnswer: Sendable {
    /// The broker acknowledged the message with this code.
    case acknowledged(PacketReasonCode)
    /// The message is stored, under this name.
    case stored(Token)
    indirect case ended(PublishOutcome)
    /// The task was cancelled. The delivery continues.
    case cancelled
    /// The queue did not accept the message.
    case notAccepted(OutgoingQueue.Refusal)
}

/// The queue's fields of a message that has, or will have, a row in the message store. Guarded by the queue's lock.
final class OutgoingRow {
    let topic: String
    let isRetained: Bool
    let properties: MessageProperties
    /// When the queue accepted the message.
    let acceptedAt: MonotonicInstant
    /// When the message's own expiry is over.
    let expiry: MonotonicInstant
    let payloadByteCount: Int
    /// The payload until the message is stored; empty afterwards.
    var payload: [UInt8]
    /// The row's id, from the first commit on.
    var id: StoredMessage.ID?
    /// The packet id under which the session sends the message.
    var packetID: PacketID?

    init(
        topic: String, isRetained: Bool, properties: MessageProperties, payload: [UInt8],
        acceptedAt: MonotonicInstant, expiry: MonotonicInstant, id: StoredMessage.ID? = nil
    ) {
        self.topic = topic
        self.isRetained = isRetained
        self.properties = properties
        self.payload = payload
        payloadByteCount = payload.count
        self.acceptedAt = acceptedAt
        self.expiry = expiry
        self.id = id
    }
}
