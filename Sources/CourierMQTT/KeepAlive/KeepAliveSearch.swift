import Foundation

/// Decides when a quiet connection is pinged, and finds the longest interval that the path keeps open.
///
/// It has no clock and no timer: when ``deadline`` has passed, call ``timerFired(lastActivity:now:)`` and perform the
/// returned ``Action``. Packets are not reported one by one, only the time of the last one, so they cost nothing here.
///
/// ```
/// offline ──connected──▶ quiet ──timerFired, after a whole interval of silence──▶ asking
///    ▲                     ▲                                                        │ │
///    │                     └────────────── answered: the interval is proven ────────┘ │
///    └── lost: the silence is suspected, and found guilty when the next attempt succeeds
/// ```
///
/// An idle time counts as the cause of a loss only if the very next attempt succeeds on the same network. Otherwise an
/// outage or a change of networks may have caused the loss.
struct KeepAliveSearch: Sendable {
    typealias Instant = ContinuousClock.Instant

    enum Action: Equatable, Sendable {
        case none
        /// Send PINGREQ.
        case ping
        /// Store ``KeepAliveSearch/memory``, which has changed.
        case remember
    }

    /// A time in which nothing was sent and nothing was received.
    struct Silence: Equatable, Sendable {
        let start: Instant
        let duration: Duration
    }

    private enum Phase: Sendable {
        case offline
        /// No PINGREQ is due before `due`.
        case quiet(due: Instant)
        /// PINGREQ was sent after `Silence`, and has no answer yet.
        case asking(after: Silence)
    }

    /// The findings.
    private(set) var memory: KeepAliveMemory
    /// The planned interval without traffic on the present connection.
    private(set) var interval: Duration
    /// The network of the present or the last connection.
    private(set) var network = ""

    private let configuredBounds: KeepAliveBounds
    /// The bounds that the broker's keep-alive permits.
    private var bounds: KeepAliveBounds
    private var phase = Phase.offline
    /// The time of the last outside event that can end connections, such as a change of networks.
    private var disturbedAt: Instant?
    /// The finding that becomes valid if the next attempt succeeds, because then the loss was not part of an outage.
    private var suspicion: KeepAliveMemory.Finding?

    init(_ bounds: KeepAliveBounds, memory: KeepAliveMemory = KeepAliveMemory()) {
        configuredBounds = bounds
        self.bounds = bounds
        self.memory = memory
        interval = bounds.minimum
    }

    var deadline: Instant? { if case .quiet(let due) = phase { due } else { nil } }

    /// The broker has accepted a connection over `network`, and ends it after 1.5 times `keepAlive` without a packet.
    mutating func connected(over network: String, keepAlive: Duration?, now: Instant, date: Date) -> Action {
        bounds = configuredBounds.within(keepAlive)
        self.network = network
        disturbedAt = nil
        let verdict = suspicion?.network == network ? suspicion : nil
        suspicion = nil
        // Even without a new finding, this network becomes the most recently used one.
        if let known = verdict ?? memory[network] { memory.keep(known) }
        beginSilence(now, date)
        return verdict == nil ? .none : .remember
    }

    /// ``deadline`` has passed. A call before the deadline is harmless. `lastActivity` is the time when a packet was
    /// last sent or received; `nil` while reading is paused, because then it is unknown.
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

    /// A PINGREQ was answered, whichever part of the client sent it.
    mutating func pongReceived(now: Instant, date: Date) -> Action {
        guard case .asking = phase else { return .none }
        let known = memory[network]
        let finding = bounds.survived(interval, known, network: network, date: date)
        memory.keep(finding)
        beginSilence(now, date)
        return finding == known ? .none : .remember
    }

    /// The network was down, the machine was suspended, or reading was paused. This explains the loss of a connection
    /// that was idle at that time, and a loss that was not explained yet.
    mutating func disturbed(now: Instant) {
        disturbedAt = now
        suspicion = nil
    }

    /// An attempt has failed, perhaps before a connection was opened.
    mutating func attemptFailed() { suspicion = nil }

    /// The connection or an attempt has ended. If the cause is unknown, `silence` is the idle time before the end, or
    /// before the first packet without an answer. If the cause is known, it is `nil`.
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
