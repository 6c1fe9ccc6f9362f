/// The connections in a row that the broker dropped soon after CONNACK: before MQTT 5 the only sign of another client
/// with the same id.
///
/// Two such clients throw each other out in turns, so each connection lasts as long as the other client pauses. Few
/// drops are enough where they come at once; where they come as late as the longest pauses of such a fight allow, more
/// of them are needed, because a bad network drops connections, too.
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

    /// This side has closed, in order, a connection that had lasted for so long. Only one that outlasts the turns of a
    /// fight says that there is none.
    mutating func closed(after time: Duration, _ configuration: SupervisorConfiguration) {
        if time > configuration.takeoverTurnWindow { self = DropStreak() }
    }
}
