import Foundation

/// Decides when a quiet connection is pinged, and finds the longest interval that the path keeps open.
///
/// A machine without clocks and timers: while ``deadline`` is not `nil`, call ``timerFired(lastActivity:now:)`` once it
/// has passed, and perform the returned ``Action``. What continues meanwhile need not be told, only when it went on last:
/// so packets cost nothing here.
///
/// ```
/// offline ──connected──▶ quiet ──timerFired, after a whole interval of silence──▶ asking
///    ▲                     ▲                                                        │ │
///    │                     └────────────── answered: the interval is proven ────────┘ │
///    └── lost: the silence is suspected, and found guilty when the next attempt succeeds
/// ```
///
/// A silence is to blame for a loss only if the very next attempt finds the same network and a broker in order: an outage
/// takes attempts, too, and a change of networks ends connections at any time.
struct KeepAliveSearch: Sendable {
    typealias Instant = ContinuousClock.Instant

    enum Action: Equatable, Sendable {
        case none
        /// Send PINGREQ.
        case ping
        /// ``KeepAliveSearch/memory`` has changed.
        case remember
    }

    /// A time in which nothing was sent and nothing came.
    struct Silence: Equatable, Sendable {
        let start: Instant
        let duration: Duration
    }

    private enum Phase: Sendable {
        case offline
        /// The silence may be over at `due`.
        case quiet(due: Instant)
        /// It is over: PINGREQ was sent, and has no answer yet.
        case asking(after: Silence)
    }

    /// What was found out.
    private(set) var memory: KeepAliveMemory
    /// How long a silence of the present connection is to be.
    private(set) var interval: Duration
    /// The network of the present connection, or of the last.
    private(set) var network = ""

    private let configuredBounds: KeepAliveBounds
    /// What the broker allows of them.
    private var bounds: KeepAliveBounds
    private var phase = Phase.offline
    /// When something happened around that can end connections.
    private var disturbedAt: Instant?
    /// What is to be believed if the loss was not part of an outage.
    private var suspicion: KeepAliveMemory.Finding?

    init(_ bounds: KeepAliveBounds, memory: KeepAliveMemory = KeepAliveMemory()) {
        configuredBounds = bounds
        self.bounds = bounds
        self.memory = memory
        interval = bounds.minimum
    }

    var deadline: Instant? { if case .quiet(let due) = phase { due } else { nil } }

    /// The broker has accepted a connection over `network`, and keeps it for `keepAlive` and half as much again.
    mutating func connected(over network: String, keepAlive: Duration?, now: Instant, date: Date) -> Action {
        bounds = configuredBounds.within(keepAlive)
        self.network = network
        disturbedAt = nil
        let verdict = suspicion?.network == network ? suspicion : nil
        suspicion = nil
        // It is the network that was used last in any case.
        if let known = verdict ?? memory[network] { memory.keep(known) }
        beginSilence(now, date)
        return verdict == nil ? .none : .remember
    }

    /// ``deadline`` has passed; too early, or without need, is harmless. `lastActivity` is when something was last sent or
    /// received; `nil` while nothing is read, since then nobody knows.
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

    /// A PINGREQ was answered, whoever sent it.
    mutating func pongReceived(now: Instant, date: Date) -> Action {
        guard case .asking = phase else { return .none }
        let known = memory[network]
        let finding = bounds.survived(interval, known, network: network, date: date)
        memory.keep(finding)
        beginSilence(now, date)
        return finding == known ? .none : .remember
    }

    /// The network, the machine or the reader was away: losses of what was silent then have their reason, as has one that
    /// nobody had an explanation for yet.
    mutating func disturbed(now: Instant) {
        disturbedAt = now
        suspicion = nil
    }

    /// An attempt has failed, perhaps before there was a connection to be closed.
    mutating func attemptFailed() { suspicion = nil }

    /// The connection has ended, or an attempt has. Where nobody has said why, `silence` is the last before it, or before
    /// the first packet that has no answer; otherwise `nil`.
    mutating func closed(_ silence: Silence?, date: Date) {
        let suspect: Silence?
        switch phase {
        case .offline: suspect = nil  // What made the attempt fail may have ended the connection before it, too.
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
