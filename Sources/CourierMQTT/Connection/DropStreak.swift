/// Counts connections in a row that the broker dropped soon after CONNACK. Before MQTT 5, this is the only sign of
/// another client with the same id.
///
/// Two such clients disconnect each other in turns, so each connection lasts as long as the other client's pause. If
/// connections are dropped right after CONNACK, a few drops are enough. If they are dropped later, a higher count is
/// needed, because a bad network drops connections, too.
struct DropStreak: Sendable {
    /// The number of drops in a row.
    private(set) var count = 0
    /// The number of the latest consecutive drops that happened right after CONNACK.
    private var quickCount = 0
    /// Whether the drops mean another client with the same id. Remains true for each further drop, until the count
    /// starts again.
    private(set) var isTakeover = false
    /// Whether another client with the same id may be the cause. If so, the error mentions it.
    var mayBeTakeover: Bool { count > 1 }

    /// Counts a connection that the broker dropped when `time` had passed since CONNACK. If `time` is long, the count
    /// starts again at 0.
    mutating func dropped(after time: Duration, _ configuration: SupervisorConfiguration) {
        guard time <= configuration.takeoverTurnWindow else {
            self = DropStreak()
            return
        }
        count += 1
        quickCount = time <= configuration.takeoverDropWindow ? quickCount + 1 : 0
        if quickCount >= configuration.takeoverDropCount || count >= configuration.takeoverTurnCount {
            isTakeover = true
        }
    }

    /// Resets the count if the client itself closed a connection that had lasted for a long `time`. If another client
    /// had the same id, the broker would have dropped this connection earlier.
    mutating func closed(after time: Duration, _ configuration: SupervisorConfiguration) {
        if time > configuration.takeoverTurnWindow { self = DropStreak() }
    }
}
