/// The state of a client's connection.
public enum ConnectionState: Hashable, Sendable, CaseIterable {
    /// Credentials are fetched or a connection is being opened, for the first time or again.
    case connecting

    /// The broker accepted the connection. Messages can be sent and received.
    case connected

    /// There is no connection, and none is being opened at this moment.
    case disconnected
}
