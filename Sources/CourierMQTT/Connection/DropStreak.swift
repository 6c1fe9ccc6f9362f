/// Counts connections in a row that the broker dropped soon after CONNACK. Before MQTT 5, such drops are the only sign
/// of another client with the same id.
///
/// If two clients have the same id, the broker disconnects one client when the other client connects. So each
/// connection lasts as long as the other client's pause before it reconnects. If connections are dropped right after
/// CONNACK, a few drops are enough to recognize another client. If connections last longer before they are dropped,
/// more drops are needed, because a bad network drops connections, too.
struct DropStreak: Sendable {
    /// The number of dropped connections in a row.
    private(set) var count = 0
    /// The number of connections in a row that were dropped right after CONNACK. If a connection lasts longer before it
    /// is dropped, this number becomes 0.
    private var quickCount = 0
    /// True if the drops mean that another client uses the same id. Remains true until the count is reset.
    private(set) var isTakeover = false
    /// True if another client with the same id may be the cause of the drops. The app's error then mentions another
    /// client.
    var mayBeTakeover: Bool { count > 1 }

    /// Counts a connection that the broker dropped when `time` had passed since CONNACK. If `time` is longer than
    /// `takeoverTurnWindow`, the count is reset to 0.
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

    /// Called when the client itself has closed a connection. Resets the count if the connection lasted longer than
    /// `takeoverTurnWindow`, because another client with the same id would have ended this connection earlier.
    mutating func closed(after time: Duration, _ configuration: SupervisorConfiguration) {
        if time > configuration.takeoverTurnWindow { self = DropStreak() }
    }
}
