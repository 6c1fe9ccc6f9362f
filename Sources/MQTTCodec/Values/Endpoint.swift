/// One of the two ends of a connection. Some packets, properties and reason codes may be sent by only one end.
public enum Endpoint: Sendable {
    /// The end that sends CONNECT.
    case client
    /// The end that replies with CONNACK: a broker.
    case server
}
