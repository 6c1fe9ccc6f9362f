import Foundation

@testable import CourierMQTT

/// A ``KeepAliveSearch`` on a connection whose only traffic is pings. The path forgets a connection after ``limit``
/// without traffic.
struct QuietPath {
    typealias Instant = ContinuousClock.Instant

    static let keepAlive = AdaptiveKeepAlive(
        minimumInterval: .seconds(60), maximumInterval: .seconds(600), step: .seconds(60))

    /// The time until the answer to a ping.
    private static let roundTrip = Duration.milliseconds(80)
    /// The number of intervals after which a search counts as endless.
    private static let endless = 1_000
    /// The time after which a PINGREQ without an answer ends the connection.
    private static let patience = Duration.seconds(10)

    var search: KeepAliveSearch
    /// The longest time without traffic that the path allows; `nil` for no limit.
    var limit: Duration?
    var network = "home"
    /// The keep-alive that the broker requests.
    var serverKeepAlive: Duration?
    private(set) var now = Instant.now
    private(set) var lastActivity = Instant.now
    /// The wall clock. It advances together with ``now``, unless a test sets it.
    var date = Date(timeIntervalSince1970: 1_000_000_000)
    private(set) var lossCount = 0
    private(set) var pingCount = 0
    /// The number of times that the memory had to be stored.
    private(set) var changeCount = 0

    init(_ keepAlive: AdaptiveKeepAlive = QuietPath.keepAlive, limit: Duration? = nil, date: Date? = nil) {
        self.date = date ?? self.date
        search = KeepAliveSearch(KeepAliveBounds(keepAlive), memory: keepAlive.memory)
        self.limit = limit
        connect()
    }

    var interval: Duration { search.interval }
    var finding: KeepAliveMemory.Finding? { search.memory[network] }
    /// The time without traffic until now.
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

    /// Records a sent or received packet.
    mutating func carry() { lastActivity = now }

    /// Ends the connection now. Unless `isExplained` is true, the reason is unknown.
    mutating func close(isExplained: Bool = false) { search.closed(isExplained ? nil : silence, date: date) }

    mutating func attemptFails() { search.closed(nil, date: date) }

    /// Advances the time to the deadline plus `late`. Returns the decision of the search.
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

    /// Waits until a ping. If the path has forgotten the connection, makes a new connection. Returns true if the ping
    /// was answered.
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

    /// Repeats intervals until an interval changes nothing. Returns the number of intervals.
    mutating func settle() -> Int {
        for count in 1..<Self.endless {
            let before = (interval, finding)
            if rest(), before == (interval, finding) { return count }
        }
        return Self.endless
    }

    private mutating func note(_ action: KeepAliveSearch.Action) { if action == .remember { changeCount += 1 } }
}

/// Compares tuples that contain an optional, because Swift has no `==` for them.
private func == (
    one: (Duration, KeepAliveMemory.Finding?), other: (Duration, KeepAliveMemory.Finding?)
) -> Bool { one.0 == other.0 && one.1 == other.1 }
