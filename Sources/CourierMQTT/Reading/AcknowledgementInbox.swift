import CourierCore
import CourierTransport
import MQTTCodec
import MQTTEngine
import Synchronization

/// Brings acknowledgements from readers on any thread to the session and the store, many with one turn of the loop.
final class AcknowledgementInbox: LoopWork {
    private struct State {
        var tickets: [AcknowledgementTicket] = []
        var isScheduled = false
    }

    private let driver: SessionDriver
    private let loop: EventLoop
    private let rows: DurableInbox?
    private let state = Mutex(State())

    /// An inbox that stores what a repetition is known by, and that rows are done with, where there is a store.
    init(_ driver: SessionDriver, rows: DurableInbox?, on loop: EventLoop) {
        self.driver = driver
        self.rows = rows
        self.loop = loop
    }

    /// All readers of a message are done; from any thread.
    func add(_ ticket: AcknowledgementTicket) {
        let needsTurn = state.withLock { state in
            state.tickets.append(ticket)
            defer { state.isScheduled = true }
            return !state.isScheduled
        }
        if needsTurn { loop.enqueue(self) }
    }

    func runOnLoop() {
        let tickets = state.withLock { state in
            state.isScheduled = false
            defer { state.tickets = [] }
            return state.tickets
        }
        driver.together {
            for ticket in tickets { finish(ticket) }
        }
    }

    private func finish(_ ticket: AcknowledgementTicket) {
        switch ticket.receipt {
        case .delivery(let handle): acknowledge(handle, ticket.code) { ticket.settle($0) }
        case .row(let id, let epoch): rows?.remove(id, of: epoch) { ticket.settle($0) }
        case .kept: ticket.settle(.success(()))
        }
    }

    /// Acknowledges deliveries. On the loop.
    func acknowledge(_ handles: [IncomingMessage.Handle]) {
        driver.together {
            for handle in handles { acknowledge(handle) }
        }
    }

    /// Acknowledges a delivery with a code. On the loop.
    func acknowledge(
        _ handle: IncomingMessage.Handle, _ code: PacketReasonCode = .success,
        settled: ((Result<Void, CourierError>) -> Void)? = nil
    ) {
        // The id of a session that is gone means another message by now: it must not be remembered.
        guard handle.qos == .exactlyOnce, let rows, driver.awaitsAcknowledgement(handle) else {
            driver.acknowledge(handle, code)
            settled?(.success(()))
            return
        }
        // A repetition after a crash must be known as one before the broker may forget the message.
        rows.remember(handle.packetID.rawValue) { [driver] outcome in
            if case .success = outcome { driver.acknowledge(handle, code) }
            settled?(outcome)
        }
    }
}
