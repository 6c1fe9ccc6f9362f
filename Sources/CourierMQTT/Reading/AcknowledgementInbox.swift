import CourierCore
import CourierTransport
import MQTTCodec
import MQTTEngine
import Synchronization

/// Collects the acknowledgements that readers make on any thread. Passes them together to the session and the message
/// store, on the event loop.
final class AcknowledgementInbox: LoopWork {
    private struct State {
        var tickets: [AcknowledgementTicket] = []
        var isScheduled = false
    }

    private let driver: SessionDriver
    private let loop: EventLoop
    private let rows: DurableInbox?
    private let state = Mutex(State())

    /// Creates an inbox. `rows` stores the packet ids of QoS 2 messages, and removes stored messages after their
    /// readers have finished. `rows` is `nil` if the client has no message store.
    init(_ driver: SessionDriver, rows: DurableInbox?, on loop: EventLoop) {
        self.driver = driver
        self.rows = rows
        self.loop = loop
    }

    /// Adds a ticket, the object that acknowledges a message, after all readers of the message have finished it. Called
    /// from any thread.
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

    /// Acknowledges received messages to the broker. Called on the event loop.
    func acknowledge(_ handles: [IncomingMessage.Handle]) {
        driver.together {
            for handle in handles { acknowledge(handle) }
        }
    }

    /// Acknowledges a received message to the broker with a reason code. Called on the event loop.
    func acknowledge(
        _ handle: IncomingMessage.Handle, _ code: PacketReasonCode = .success,
        settled: ((Result<Void, CourierError>) -> Void)? = nil
    ) {
        // Do not store a packet id of an earlier session, because another message may have this id now.
        guard handle.qos == .exactlyOnce, let rows, driver.awaitsAcknowledgement(handle) else {
            driver.acknowledge(handle, code)
            settled?(.success(()))
            return
        }
        // Store the packet id before sending PUBREC. So after a crash, the next process recognizes the message if the
        // broker sends it again.
        rows.remember(handle.packetID.rawValue) { [driver] outcome in
            if case .success = outcome { driver.acknowledge(handle, code) }
            settled?(outcome)
        }
    }
}
