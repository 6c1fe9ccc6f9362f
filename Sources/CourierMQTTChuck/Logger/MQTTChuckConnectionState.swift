/// The state of a connection, derived from its recorded packets.
public enum MQTTChuckConnectionState: String, Codable, Hashable, Sendable {
    /// No CONNACK was received yet.
    case connecting
    /// The broker accepted the connection.
    case connected
    /// The broker refused the connection.
    case refused
    /// A DISCONNECT ended the connection.
    case disconnected
    /// A later connection of the same client replaced this connection before a DISCONNECT was seen.
    case superseded

    /// True while further packets of the connection may follow.
    var isLive: Bool { self == .connecting || self == .connected }
}
