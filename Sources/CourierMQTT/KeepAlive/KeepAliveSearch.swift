import Foundation

/// Decides when a PINGREQ is sent on a quiet connection, and finds the longest interval that the network path allows.
///
/// The value has no clock and no timer. When ``deadline`` has passed, call ``timerFired(lastActivity:now:)`` and
/// perform the returned ``Action``. The argument `lastActivity` is the time of the last packet, so no call is needed
/// for each packet.
///
/// ```
/// offline ──connected──▶ quiet ──timerFired, after a whole interval of silence──▶ asking
///    ▲                     ▲                                                        │ │
///    │                     └────────────── answered: the interval is proven ────────┘ │
///    └── lost: the interval is suspected, and recorded as too long if the next attempt succeeds
/// ```
///
/// An idle time counts as the cause of a loss only if the next attempt to connect succeeds on the same network.
/// Otherwise, an outage or a change of networks may have caused the loss.
struct KeepAliveSearch: Sendable {
    typealias Instant = ContinuousClock.Instant

    /// The action that the caller must perform.
    enum Action: Equatable, Sendable {
        case none
        /// The caller must send PINGREQ.
        case ping
        /// The caller must store ``KeepAliveSearch/memory``, because it has changed.
        case remember
    }

    /// A period in which no bytes were sent or received.
    struct Silence: Equatable, Sendable {
        let start: Instant
        let duration: Duration
    }

    /// The state of the connection: no connection, no unanswered PINGREQ, or waiting for PINGRESP.
    private enum Phase: Sendable {
        case offline
        /// No PINGREQ is unanswered. The next PINGREQ is due at `due`, or later if there is traffic.
        case quiet(due: Instant)
        /// PINGREQ was sent after this idle time, and PINGRESP has not arrived yet.
        case asking(after: Silence)
    }

    /// The intervals that worked or failed on each network.
    private(set) var memory: KeepAliveMemory
    /// The time without traffic after which PINGREQ is sent on the current connection.
    private(set) var interval: Duration
    /// The name of the network of the current connection, or of the last connection if there is none now. Empty if the
    /// name is unknown.
    private(set) var network = ""

    private let configuredBounds: KeepAliveBounds
    /// The configured bounds, limited to intervals that fit the keep-alive of the current connection. If there is no
    /// connection, the keep-alive of the last connection counts.
    private var bounds: KeepAliveBounds
    private var phase = Phase.offline
    /// The time of the last outside event that can end connections, such as a change of networks. `nil` if there was
    /// no such event since the connection was accepted.
    private var disturbedAt: Instant?
    /// After a connection was lost: the finding that the interval of this connection was too long for the network;
    /// `nil` if the loss does not suggest this. The finding becomes valid if the next attempt to connect succeeds on
    /// the same network, because then the loss was not part of an outage.
    private var suspicion: KeepAliveMemory.Finding?

    init(_ bounds: KeepAliveBounds, memory: KeepAliveMemory = KeepAliveMemory()) {
        configuredBounds = bounds
        self.bounds = bounds
        self.memory = memory
        interval = bounds.minimum
    }

    var deadline: Instant? { if case .quiet(let due) = phase { due } else { nil } }

    /// Records that the broker has accepted a connection over `network`. The broker ends this connection after 1.5
    /// times `keepAlive` without a packet. If `keepAlive` is `nil`, the broker does not end an idle connection.
    mutating func connected(over network: String, keepAlive: Duration?, now: Instant, date: Date) -> Action {
        bounds = configuredBounds.within(keepAlive)
        self.network = network
        disturbedAt = nil
        let verdict = suspicion?.network == network ? suspicion : nil
        suspicion = nil
        // Even an unchanged finding is added again, so that this network counts as the most recently used one.
        if let known = verdict ?? memory[network] { memory.keep(known) }
        beginSilence(now, date)
        return verdict == nil ? .none : .remember
    }

    /// Checks whether a ping is due. Call it when ``deadline`` has passed; an earlier call is harmless. `lastActivity`
    /// is the time when a packet was last sent or received. While reading is paused, `lastActivity` is `nil`, because
    /// the client does not know when packets arrive.
    mutating func timerFired(lastActivity: Instant?, now: Instant) -> Action {
        guard case .quiet = phase else { return .none }
        let start = lastActivity ?? now
        let due = start.advanced(by: interval)
        guard now >= due else {
            phase = .quiet(due: due)
            return .none
        }
        phase = .asking(after: Silence(start: start, duration: start.duration(to: now)))
        return .ping
    }

    /// Records that PINGRESP was received, even if another part of the client has sent the PINGREQ.
    mutating func pongReceived(now: Instant, date: Date) -> Action {
        guard case .asking = phase else { return .none }
        let known = memory[network]
        let finding = bounds.survived(interval, known, network: network, date: date)
        memory.keep(finding)
        beginSilence(now, date)
        return finding == known ? .none : .remember
    }

    /// Records that the network was down, the machine was suspended, or reading was paused. If the connection is lost
    /// during the present idle time, this event counts as the cause. If the last connection was lost and the cause is
    /// not known yet, this event counts as the cause, too.
    mutating func disturbed(now: Instant) {
        disturbedAt = now
        suspicion = nil
    }

    /// Records that an attempt to connect has failed, perhaps before a connection was opened. An outage may have caused
    /// both this failure and the last loss of a connection. So the keep-alive interval of the lost connection is no
    /// longer suspected as the cause of the loss.
    mutating func attemptFailed() { suspicion = nil }

    /// Records that the connection or an attempt has ended. If the cause is known, `silence` is `nil`. If the cause is
    /// unknown, `silence` is the idle time that `Liveness.silence(now:)` returns.
    mutating func closed(_ silence: Silence?, date: Date) {
        let suspect: Silence?
        switch phase {
        // An attempt failed. The cause of the failure may also have ended the previous connection, so suspect no idle
        // time.
        case .offline: suspect = nil
        case .quiet: suspect = silence
        case .asking(let asked): suspect = silence == nil ? nil : asked
        }
        phase = .offline
        suspicion = suspect.flatMap { suspect in
            if let disturbedAt, suspect.start <= disturbedAt { return nil }
            return bounds.lost(
                after: suspect.duration, of: interval, memory[network], network: network, date: date)
        }
    }

    private mutating func beginSilence(_ now: Instant, _ date: Date) {
        interval = bounds.interval(memory[network], date: date)
        phase = .quiet(due: now.advanced(by: interval))
    }
}
