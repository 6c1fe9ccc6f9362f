/// The state of a client's connection.
public enum ConnectionState: Hashable, Sendable, CaseIterable {
    /// The client is fetching credentials or opening a connection, for the first time or again.
    case connecting

    /// The broker accepted the connection. Messages can be sent and received.
    case connected

    /// There is no connection, and the client is not opening one at this moment.
    case disconnected
}
