/// One of the two ends of a connection; some packets, properties and reason codes may be sent by one of them only.
public enum Endpoint: Sendable {
    /// The end that sends CONNECT.
    case client
    /// The end that answers with CONNACK: a broker.
    case server
}
