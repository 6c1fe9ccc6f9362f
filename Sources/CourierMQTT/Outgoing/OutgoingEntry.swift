import CourierCore
import MQTTCodec
import MQTTEngine

/// One accepted publish in the outgoing queue, from its acceptance until its end.
///
/// ```
/// storing ──stored──▶ ready ──taken by the driver───▶ inFlight ──acknowledged, failed──▶ ended
///                     │  ▲ ◀──────session lost──────────┘
///          memory full▼  │page read
///                     onDisk
/// ```
///
/// A waiting entry may also end because it expires, a newer message replaces it, it is dropped at a limit, or the app
/// withdraws it.
struct OutgoingEntry: ~Copyable {
    /// The state of an entry; see the diagram at ``OutgoingEntry``.
    enum State: UInt8 {
        /// The position in the ring buffer contains no entry.
        case free
        /// The message waits until the message store has stored it.
        case storing
        /// The session driver may take the message.
        case ready
        /// The message's bytes are in the message store only, not in memory.
        case onDisk
        /// The session driver has taken the message.
        case inFlight
    }

    /// Properties of an entry that are true or false.
    struct Flags: OptionSet {
        let rawValue: UInt8

        /// The entry counts toward the limits of ``OfflinePolicy``.
        static let isCounted = Flags(rawValue: 1)
        /// The message may be dropped when a limit is reached. This process accepted the message, and the session
        /// driver has never taken it.
        static let isDroppable = Flags(rawValue: 2)
        /// Events report the message's end.
        static let isObserved = Flags(rawValue: 4)
        /// While the message waits, a newer message to the same topic replaces it.
        static let isLatestOnly = Flags(rawValue: 8)
        /// A running commit stores the message.
        static let isCommitting = Flags(rawValue: 16)
    }

    /// A group of messages that keep their order among each other. A message may overtake a waiting message of another
    /// lane.
    enum Lane: UInt8, CaseIterable {
        /// QoS 0 messages. They overtake messages that have to wait for acknowledgements.
        case unacknowledged
        /// QoS 1 and 2 messages that are kept in memory only.
        case memory
        /// QoS 1 and 2 messages that the message store has stored or will store.
        case stored
    }

    /// The number that identifies the entry and gives its order among all entries. ``EntryRing`` assigns it.
    var number = 0
    /// The time when the entry expires, unless the session driver takes it before.
    var end = MonotonicInstant.never
    var recipient = PublishRecipient.nobody
    var state = State.free
    var flags: Flags = []
    var lane = Lane.memory
    /// The place of the message's bytes in memory, or `nil` if the bytes are not in memory.
    var place: MessageMemory.Place?
    var qos = QoS.zero
    /// The number of bytes of topic, properties and payload, which is less than 2^28.
    var size: UInt32 = 0
    /// The data for the message's row in the message store; `nil` for messages that are not stored.
    var row: OutgoingRow?

    /// The number of bytes of topic, properties and payload.
    var byteCount: Int { Int(size) }

    /// True if the entry has not ended and the session driver has not taken it.
    var isWaiting: Bool {
        switch state {
        case .storing, .ready, .onDisk: true
        case .free, .inFlight: false
        }
    }

    /// Frees the entry's position in the ring after the entry has ended. The number stays, because ``EntryRing`` needs
    /// it for its binary search.
    @inline(__always)
    mutating func clear() {
        state = .free
        flags = []
        recipient = .nobody
        row = nil
        place = nil
    }
}

/// The receiver of a publish's result.
enum PublishRecipient: Sendable {
    case nobody
    /// A closure of the app, called on the delivery queue.
    case completion(PublishCompletion)
    /// A task that waits for the final result of the publish.
    case task(PublishContinuation)
    /// A task that waits only until the message is stored, and not for the result of the publish.
    case acceptance(PublishContinuation)
}

/// The result of one publish.
typealias PublishOutcome = Result<PublishReceipt, CourierError>

/// The app's closure that receives the result of a publish.
typealias PublishCompletion = @Sendable (PublishOutcome) -> Void

/// The continuation that resumes a task that waits for a publish. Code must remove the continuation from its entry
/// before resuming it. So the task is resumed exactly once.
typealias PublishContinuation = UnsafeContinuation<PublishAnswer, Never>

/// The value that a waiting task receives.
enum PublishAnswer: Sendable {
    /// The broker acknowledged the message with this code.
    case acknowledged(PacketReasonCode)
    /// The message is stored. If the message is not meant for the message store, the answer means that the queue has
    /// accepted the message. The token identifies the message's entry.
    case stored(Token)
    indirect case ended(PublishOutcome)
    /// The task was cancelled. The delivery of the message continues.
    case cancelled
    /// The queue did not accept the message.
    case notAccepted(OutgoingQueue.Refusal)
}

/// The queue's data about a message that has, or will have, a row in the message store. The queue's lock guards it.
final class OutgoingRow {
    let topic: String
    let isRetained: Bool
    let properties: MessageProperties
    /// The time when the queue accepted the message.
    let acceptedAt: MonotonicInstant
    /// The time when the message's own `messageExpiry` ends.
    let expiry: MonotonicInstant
    let payloadByteCount: Int
    /// The payload until the message is stored; empty afterwards.
    var payload: [UInt8]
    /// The row's id; `nil` until a commit of the message store contains the message.
    var id: StoredMessage.ID?
    /// The packet id under which the session driver sends the message; `nil` before the message is sent.
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
