import CourierCore
import CourierTransport
import MQTTCodec
import MQTTEngine

/// The way of messages that are to survive the process: into the store first, then to the gate, and out of the store when
/// they have ended.
///
/// ```
/// publish ──▶ arrivals ──commit──▶ store ──▶ gate ──▶ session ──end──▶ removed
///                                    └──the gate is full──▶ on disk only ──page by page──▶ gate
/// ```
///
/// Memory holds no more than the gate does: what does not fit there is read again when its turn comes.
///
/// Safe to share: `arrivals` may be touched from any thread; everything else is touched on the loop only.
final class DurableOutbox: @unchecked Sendable {
    /// A message that gate or session have.
    struct Live {
        let id: StoredMessage.ID
        let qos: QoS
        var packetID: PacketID?
    }

    /// The first message that is on disk only.
    struct FirstOnDisk {
        let id: StoredMessage.ID
        /// When it has waited too long.
        let end: ContinuousClock.Instant?
    }

    /// A message that is on disk only and that a newer one to its topic replaces.
    struct LatestOnDisk {
        let id: StoredMessage.ID
        let qos: QoS
        /// Its place in the order of what was handed over.
        let stamp: UInt64
        /// The size of its payload; `nil` when no event has told that it is on its way.
        let byteCount: Int?
    }

    /// Messages of one commit. It crosses the store's thread, which does not touch it.
    struct Batch: Sendable {
        let arrivals: [Arrival]
        let messages: [StoredMessage]
        let scope: StoreScope
        /// Of which session they are: the next one may have the same scope.
        let session: Int
        /// What goes along with them.
        let steps: StoreLane.Batch?

        /// Whether nothing but its one message can be why it was not taken.
        var isOneMessage: Bool { arrivals.count == 1 && (steps?.changes.isEmpty ?? true) }
    }

    /// How long a store that could not be read is left alone, 1 s.
    static let retryInterval = Duration.seconds(1)
    /// How long what waits for the store is held back at most, for what the callers bring who were told last, 1 ms.
    static let gatheringTime = Duration.milliseconds(1)

    let store: any MessageStore
    let loop: EventLoop
    let policy: OfflinePolicy
    let texts: WireText
    let arrivals: OutboxArrivals
    let steps: StoreLane
    let gate: PublishGate
    let ledger: PublishLedger
    let ends: PublishEnds
    /// Told when ``readMore()`` is to be called at the latest.
    let expires: (ContinuousClock.Instant) -> Void
    let failed: (CourierError) -> Void
    /// Receives each stored message that the client gave up because it does not send the message's texts.
    let rejected: (StoredMessage, CourierError) -> Void

    // MARK: On the loop only

    var scope: StoreScope?
    /// Whether the next process goes on with what this one has sent: it may have the same session with the broker.
    var storesPacketIDs = true
    /// How many sessions were given up and have ended.
    var session = 0
    var lastID: UInt64 = 0
    /// The last row that another process wrote, and the last of those whose way on was told.
    var lastOfEarlierProcess: UInt64 = 0
    var lastTold: StoredMessage.ID?
    var live: [Token: Live] = [:]
    /// Whether there are rows that neither gate nor session have.
    var isSpilled = false
    /// The last row that was handed to gate or session.
    var lastHandedOver: StoredMessage.ID?
    var lastStored: StoredMessage.ID?
    /// The first row that is on disk only, once memory had no room for it.
    var firstOnDisk: FirstOnDisk?
    /// The rows of another process that the session goes on with, until reading has passed them.
    var restored: Set<StoredMessage.ID> = []
    /// Who waits for a message that is on disk only.
    var recipients: [StoredMessage.ID: PublishLedger.Recipient] = [:]
    /// The messages on disk only that a newer one to their topic replaces, by the topic's bytes.
    var latest: [[UInt8]: LatestOnDisk] = [:]
    /// The messages on disk only that were replaced, and whose removal is not stored yet.
    var replaced: Set<StoredMessage.ID> = []
    /// Those whose removal was stored since the present page began to be read, which may have them.
    var removedWhileReading: Set<StoredMessage.ID> = []
    var isCommitting = false
    /// Ends ``gatheringTime``.
    var gatheringTimer: TimerToken?
    var reading: Task<Void, Never>?
    var retryTimer: TimerToken?
    /// Why the client has ended.
    var end: CourierError?

    /// Makes an outbox that is closed until ``begin(_:_:)``. `expires` is told when to call ``readMore()`` at the
    /// latest, `failed` that the store can not be read.
    init(
        _ store: any MessageStore, _ policy: OfflinePolicy, texts: WireText, steps: StoreLane, gate: PublishGate,
        ledger: PublishLedger,
        ends: PublishEnds, on loop: EventLoop, expires: @escaping (ContinuousClock.Instant) -> Void,
        failed: @escaping (CourierError) -> Void, rejected: @escaping (StoredMessage, CourierError) -> Void
    ) {
        self.store = store
        self.policy = policy
        self.texts = texts
        arrivals = OutboxArrivals(policy)
        self.steps = steps
        self.gate = gate
        self.ledger = ledger
        self.ends = ends
        self.loop = loop
        self.expires = expires
        self.failed = failed
        self.rejected = rejected
    }
}

// MARK: - From any thread

extension DurableOutbox {
    /// Takes a message of a session, as ``PublishGate/session`` counts them, on its way, in the place of the older one that
    /// it replaces, or gives it or older ones up, if the policy says so; `false` when too much waits for the store.
    func add(_ arrival: Arrival, to session: Int) throws(CourierError) -> Bool {
        let shape = arrival.shape
        let addition = try arrivals.add(arrival, to: session, at: loop.clock.now) {
            ends.began(shape.topic, shape.qos, arrival.payload.count)
        }
        if let older = addition.replaced { giveUp(older, .messageReplaced) }
        for older in addition.dropped.list { giveUp(older, .queueFull) }
        for waiter in addition.dropped.roomWaiters { waiter.resume(.success(())) }
        switch addition.verdict {
        case .taken: break
        case .takenFirst: loop.execute { [self] in storeArrivals() }
        case .givenUp: giveUp(arrival, .queueFull)
        case .full: return false
        }
        return true
    }

    private func giveUp(_ arrival: Arrival, _ code: CourierError.Code) {
        refused(arrival, PublishEnds.queueError(code, arrival.shape.topic))
    }

    /// A waiter that is resumed when there is room on the way into the store; at once if there is.
    func roomWaiter(_ census: WaiterCensus) -> Waiter<Void> { arrivals.roomWaiter(census) }

    /// Forgets a waiter that waits no more.
    func forget(_ waiter: Waiter<Void>) { arrivals.forget(waiter) }

    /// Ends what was taken out before it was on its way into the store.
    func refuse(_ taken: OutboxArrivals.Taken, _ error: CourierError) {
        for arrival in taken.list { refused(arrival, error) }
        for waiter in taken.roomWaiters { waiter.resume(.failure(error)) }
    }
}
