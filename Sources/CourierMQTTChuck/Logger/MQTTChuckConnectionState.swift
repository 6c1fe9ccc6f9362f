/// How a connection stands, as far as its packets tell.
public enum MQTTChuckConnectionState: String, Codable, Hashable, Sendable {
    /// No CONNACK has come yet.
    case connecting
    /// The broker has accepted.
    case connected
    /// The broker has refused.
    case refused
    /// A DISCONNECT has ended it.
    case disconnected
    /// A later connection of the same client has taken its place, without a DISCONNECT on this one.
    case superseded

    /// Whether packets may still come.
    var isLive: Bool { self == .connecting || self == .connected }
}
