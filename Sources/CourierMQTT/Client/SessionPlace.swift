import CourierCore
import CourierTransport

/// Identifies a session by its client id and broker. CONNACK reports only whether the broker has a session, and does
/// not identify the session.
struct SessionPlace: Sendable {
    /// The options of the connection. They identify the broker even if the app provides the stream to the broker.
    let options: ConnectOptions
    /// The broker's cluster; `nil` if none is known. All nodes of a cluster have the same sessions.
    @BoxedOptional var cluster: String?

    /// True if both values identify the same session: the client ids are equal, and the broker or the cluster is the
    /// same.
    func hasSession(of other: SessionPlace) -> Bool {
        guard TopicRules.sameBytes(options.clientId, other.options.clientId) else { return false }
        return (cluster != nil && cluster == other.cluster) || options.leadsToServer(of: other.options)
    }
}

extension ConnectOptions {
    fileprivate func leadsToServer(of other: ConnectOptions) -> Bool {
        host == other.host && port == other.port && scheme == other.scheme && webSocketPath == other.webSocketPath
    }

    /// The WebSocket path without its query. The query does not identify the server, and may contain a token.
    private var webSocketPath: Substring? { webSocket?.path.prefix { $0 != "?" } }
}
