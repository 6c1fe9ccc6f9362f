import Foundation

@testable import CourierMQTT

/// A ``KeepAliveSearch`` on a connection that carries nothing but its pings, over a path that forgets what is silent for
/// longer than ``limit``.
struct QuietPath {
    typealias Instant = ContinuousClock.Instant

    static let keepAlive = AdaptiveKeepAlive(
        minimumInterval: .seconds(60), maximumInterval: .seconds(600), step: .seconds(60))

    /// How long an answer takes.
    private static let roundTrip = Duration.milliseconds(80)
    /// How many silences a search may take before it counts as endless.
    private static let endless = 1_000
    /// When a PINGREQ without an answer ends the connection.
    private static let patience = Duration.seconds(10)

    var search: KeepAliveSearch
    /// The longest silence that the path survives; `nil` survives all.
    var limit: Duration?
    var network = "home"
    /// What the broker asks for.
    var serverKeepAlive: Duration?
    private(set) var now = Instant.now
    private(set) var lastActivity = Instant.now
    /// The wall clock, which goes with ``now`` unless a test sets it.
    var date = Date(timeIntervalSince1970: 1_000_000_000)
    private(set) var lossCount = 0
    private(set) var pingCount = 0
    /// How often there was something new to be stored.
    private(set) var changeCount = 0

    init(_ keepAlive: AdaptiveKeepAlive = QuietPath.keepAlive, limit: Duration? = nil, date: Date? = nil) {
        self.date = date ?? self.date
        search = KeepAliveSearch(KeepAliveBounds(keepAlive), memory: keepAlive.memory)
        self.limit = limit
        connect()
    }

    var interval: Duration { search.interval }
    var finding: KeepAliveMemory.Finding? { search.memory[network] }
    /// The silence until now.
    var silence: KeepAliveSearch.Silence {
        KeepAliveSearch.Silence(start: lastActivity, duration: lastActivity.duration(to: now))
    }

    mutating func pass(_ duration: Duration) {
        now += duration
        date += duration / .seconds(1)
    }

    mutating func connect() {
        lastActivity = now
        note(search.connected(over: network, keepAlive: serverKeepAlive, now: now, date: date))
    }

    /// Something was sent or came.
    mutating func carry() { lastActivity = now }

    /// The connection ends now, without a word and after this silence unless `isExplained`.
    mutating func close(isExplained: Bool = false) { search.closed(isExplained ? nil : silence, date: date) }

    mutating func attemptFails() { search.closed(nil, date: date) }

    /// Goes to the deadline, and `late` beyond it; what the timer decides.
    mutating func fireTimer(late: Duration = .zero) -> KeepAliveSearch.Action {
        guard let deadline = search.deadline else { return .none }
        pass(now.duration(to: deadline) + late)
        return search.timerFired(lastActivity: lastActivity, now: now)
    }

    mutating func answer() {
        pass(Self.roundTrip)
        carry()
        note(search.pongReceived(now: now, date: date))
    }

    /// One silence to its end and what follows from it, with a new connection where that is lost; whether it survived.
    @discardableResult
    mutating func rest() -> Bool {
        while fireTimer() != .ping {}
        pingCount += 1
        guard let limit, silence.duration > limit else {
            answer()
            return true
        }
        lossCount += 1
        pass(Self.patience)
        close()
        pass(.seconds(1))
        connect()
        return false
    }

    /// Rests until a silence changes nothing any more; how many it took.
    mutating func settle() -> Int {
        for count in 1..<Self.endless {
            let before = (interval, finding)
            if rest(), before == (interval, finding) { return count }
        }
        return Self.endless
    }

    private mutating func note(_ action: KeepAliveSearch.Action) { if action == .remember { changeCount += 1 } }
}

/// Tuples are compared, but not with an optional among them.
private func == (
    one: (Duration, KeepAliveMemory.Finding?), other: (Duration, KeepAliveMemory.Finding?)
) -> Bool { one.0 == other.0 && one.1 == other.1 }
