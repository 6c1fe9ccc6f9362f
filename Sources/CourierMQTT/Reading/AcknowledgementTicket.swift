import CourierCore
import MQTTCodec
import MQTTEngine
import Synchronization

/// Counts the readers that still process one message. When the last reader has finished, the message is acknowledged.
///
/// ```
/// open ──the last reader finishes──▶ finished ──the acknowledgement succeeds or fails──▶ settled
/// ```
final class AcknowledgementTicket: Sendable {
    typealias Outcome = Result<Void, CourierError>

    /// The origin of the message, which determines how the message is acknowledged.
    enum Receipt: Sendable {
        /// The broker sent the message and waits for its acknowledgement.
        case delivery(IncomingMessage.Handle)
        /// The message is a row (a message in the store). `epoch` identifies the session of the row; see
        /// ``DurableInbox``.
        case row(StoredMessage.ID, epoch: Int)
        /// The message was kept in memory, and the broker needs no acknowledgement. If the reader does not finish the
        /// message, the client keeps it again until the given time; `nil` means no limit.
        case kept(until: ContinuousClock.Instant?)
    }

    private struct State {
        var openCount: Int
        /// The code of the first reader that rejected the message; `nil` if no reader rejected it.
        var rejection: NegativeAcknowledgement?
        var outcome: Outcome?
        /// The functions to call when the acknowledgement has succeeded or failed.
        var waiters: [@Sendable (Outcome) -> Void] = []
    }

    let receipt: Receipt
    /// True if only one reader processes the message.
    let isSingle: Bool
    private let state: Mutex<State>
    private let done: @Sendable (AcknowledgementTicket) -> Void
    private let storing = Atomic(false)

    /// Creates a ticket for `readers` readers, at least one. `done` is called once, on the thread of the reader that
    /// finishes last.
    init(_ receipt: Receipt, readers: Int, done: @escaping @Sendable (AcknowledgementTicket) -> Void) {
        self.receipt = receipt
        self.done = done
        isSingle = readers <= 1
        state = Mutex(State(openCount: max(readers, 1)))
    }

    /// The row of this message in the store; `nil` if the message is not a row.
    var row: (id: StoredMessage.ID, epoch: Int)? {
        guard case .row(let id, let session) = receipt else { return nil }
        return (id, session)
    }

    /// True while the store saves the message, because its reader ended without acknowledging it.
    var isBeingStored: Bool {
        get { storing.load(ordering: .relaxed) }
        set { storing.store(newValue, ordering: .relaxed) }
    }

    /// The reason code of the acknowledgement: success, or the code of the first rejection.
    var code: PacketReasonCode {
        state.withLock(\.rejection).flatMap { PacketReasonCode(rawValue: $0.rawValue) } ?? .success
    }

    /// Records that one reader has finished or rejected the message. Called once for each reader.
    fileprivate func finishOne(rejecting rejection: NegativeAcknowledgement? = nil) {
        let isLast = state.withLock { state in
            state.rejection = state.rejection ?? rejection
            state.openCount -= 1
            return state.openCount == 0
        }
        if isLast { done(self) }
    }

    /// Records the outcome of the acknowledgement, and calls the waiters with it.
    func settle(_ outcome: Outcome) {
        let waiters = state.withLock { state in
            state.outcome = outcome
            defer { state.waiters = [] }
            return state.waiters
        }
        for waiter in waiters { waiter(outcome) }
    }

    /// Calls `waiter` with the outcome of the acknowledgement. If other readers still process the message, calls
    /// `waiter` with success at once, because the outcome then depends only on the other readers.
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

/// The right of one reader to acknowledge or reject a message once. ``AcknowledgementTicket`` counts the readers of a
/// message.
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
