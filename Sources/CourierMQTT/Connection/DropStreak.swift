/// Counts connections in a row that the broker dropped soon after CONNACK. Before MQTT 5, this is the only sign of another client
/// with the same id.
///
/// Two such clients disconnect each other in turns, so each connection lasts as long as the other client pauses. A few immediate
/// drops are enough. Later drops, up to the longest pause, need a higher count, because a bad network drops connections, too.
struct DropStreak: Sendable {
    /// How many there were.
    private(set) var count = 0
    /// How many of the last came right after CONNACK.
    private var quickCount = 0
    /// Whether they mean another client; one more is enough then, until the count begins anew.
    private(set) var isTakeover = false
    /// Whether another client with the same id may be the cause. The error then says so.
    var mayBeTakeover: Bool { count > 1 }

    /// The broker has dropped a connection that had lasted for so long.
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

    /// The client closed a connection in order after this time. Only a connection that lasted longer than the turns of two such
    /// clients proves that there is no other client.
    mutating func closed(after time: Duration, _ configuration: SupervisorConfiguration) {
        if time > configuration.takeoverTurnWindow { self = DropStreak() }
    }
}
