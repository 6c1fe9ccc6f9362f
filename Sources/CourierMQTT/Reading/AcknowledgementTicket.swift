import CourierCore
import MQTTEngine
import Synchronization

/// Counts the readers that are still busy with one message, and has it acknowledged when the last is done.
final class AcknowledgementTicket: Sendable {
    private let open: Atomic<Int>
    private let handle: IncomingMessage.Handle
    private let done: @Sendable (IncomingMessage.Handle) -> Void

    /// A ticket for `readers` readers, at least one; `done` is called once, on the thread of the last.
    init(
        _ handle: IncomingMessage.Handle, readers: Int, done: @escaping @Sendable (IncomingMessage.Handle) -> Void
    ) {
        self.handle = handle
        self.done = done
        open = Atomic(max(readers, 1))
    }

    /// One reader is done. To be called once for each.
    fileprivate func finishOne() {
        if open.subtract(1, ordering: .acquiringAndReleasing).newValue == 0 { done(handle) }
    }
}

/// One reader's part of an ``AcknowledgementTicket``: counts once, however often it is used.
final class AcknowledgementPart: MessageAcknowledgement {
    private let hasFinished = Atomic(false)
    private let ticket: AcknowledgementTicket

    init(_ ticket: AcknowledgementTicket) { self.ticket = ticket }

    var isDone: Bool { hasFinished.load(ordering: .acquiring) }

    func acknowledge() {
        guard !hasFinished.exchange(true, ordering: .acquiringAndReleasing) else { return }
        ticket.finishOne()
    }
}
