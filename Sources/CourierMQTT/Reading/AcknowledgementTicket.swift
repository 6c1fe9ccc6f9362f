import CourierCore
import MQTTCodec
import MQTTEngine
import Synchronization

/// Counts the readers that still process one message. When the last reader has finished, the message is acknowledged.
///
/// ```
/// open ──the last reader is done──▶ finished ──the acknowledgement cannot be lost──▶ settled
/// ```
final class AcknowledgementTicket: Sendable {
    typealias Outcome = Result<Void, CourierError>

    /// The kind of acknowledgement.
    enum Receipt: Sendable {
        /// A delivery of the broker.
        case delivery(IncomingMessage.Handle)
        /// A row of the message store, of a session as ``DurableInbox`` counts them.
        case row(StoredMessage.ID, epoch: Int)
        /// There is nothing to acknowledge. If a reader leaves the message unfinished, the message is kept again until its time
        /// ends.
        case kept(until: ContinuousClock.Instant?)
    }

    private struct State {
        var openCount: Int
        /// The code of the first reader that rejected the message.
        var rejection: NegativeAcknowledgement?
        var outcome: Outcome?
        /// Called when the acknowledgement is settled.
        var waiters: [@Sendable (Outcome) -> Void] = []
    }

    let receipt: Receipt
    private let state: Mutex<State>
    private let done: @Sendable (AcknowledgementTicket) -> Void
    private let storing = Atomic(false)

    /// A ticket for `readers` readers, at least one; `done` is called once, on the thread of the last.
    init(_ receipt: Receipt, readers: Int, done: @escaping @Sendable (AcknowledgementTicket) -> Void) {
        self.receipt = receipt
        self.done = done
        state = Mutex(State(openCount: max(readers, 1)))
    }

    /// The row of the store that the message is, if it is one.
    var row: (id: StoredMessage.ID, epoch: Int)? {
        guard case .row(let id, let session) = receipt else { return nil }
        return (id, session)
    }

    /// Whether the message is on its way into the store, after a reader left it.
    var isBeingStored: Bool {
        get { storing.load(ordering: .relaxed) }
        set { storing.store(newValue, ordering: .relaxed) }
    }

    /// The code that the acknowledgement carries.
    var code: PacketReasonCode {
        state.withLock(\.rejection).flatMap { PacketReasonCode(rawValue: $0.rawValue) } ?? .success
    }

    /// One reader has finished, and perhaps rejected the message. Called once for each reader.
    fileprivate func finishOne(rejecting rejection: NegativeAcknowledgement? = nil) {
        let isLast = state.withLock { state in
            state.rejection = state.rejection ?? rejection
            state.openCount -= 1
            return state.openCount == 0
        }
        if isLast { done(self) }
    }

    /// The acknowledgement cannot be lost any more, or has been.
    func settle(_ outcome: Outcome) {
        let waiters = state.withLock { state in
            state.outcome = outcome
            defer { state.waiters = [] }
            return state.waiters
        }
        for waiter in waiters { waiter(outcome) }
    }

    /// Calls `waiter` when the acknowledgement is settled. If other readers still process the message, it is called at once,
    /// because they decide.
    fileprivate func whenSettled(_ waiter: @escaping @Sendable (Outcome) -> Void) {
        let outcome = state.withLock { state -> Outcome? in
            if let outcome = state.outcome { return outcome }
            if state.openCount > 0 { return .success(()) }
            state.waiters.append(waiter)
            return nil
        }
        if let outcome { waiter(outcome) }
    }
}

/// One reader's share of an ``AcknowledgementTicket``. It counts once, however often it is used.
final class AcknowledgementPart: MessageAcknowledgement {
    private let hasFinished = Atomic(false)
    private let ticket: AcknowledgementTicket

    init(_ ticket: AcknowledgementTicket) { self.ticket = ticket }

    var isDone: Bool { hasFinished.load(ordering: .acquiring) }

    func acknowledge() { finish() }

    func reject(_ reason: NegativeAcknowledgement) { finish(rejecting: reason) }

    private func finish(rejecting reason: NegativeAcknowledgement? = nil) {
        guard !hasFinished.exchange(true, ordering: .acquiringAndReleasing) else { return }
        ticket.finishOne(rejecting: reason)
    }

    func acknowledge(settled: @escaping @Sendable (Result<Void, CourierError>) -> Void) {
        acknowledge()
        ticket.whenSettled(settled)
    }
}
