import CourierCore
import CourierTransport

/// Identifies the session at a broker. A broker reports that it has a session, and not which one.
struct SessionPlace: Sendable {
    /// The options of the connection. They identify the broker also for a stream of the app.
    let options: ConnectOptions
    /// The cluster that the server is a node of; its nodes have the same sessions.
    @BoxedOptional var cluster: String?

    /// Whether a session of this client id that is found there is the same.
    func hasSession(of other: SessionPlace) -> Bool {
        guard TopicRules.sameBytes(options.clientId, other.options.clientId) else { return false }
        return (cluster != nil && cluster == other.cluster) || options.leadsToServer(of: other.options)
    }
}

extension ConnectOptions {
    fileprivate func leadsToServer(of other: ConnectOptions) -> Bool {
        host == other.host && port == other.port && scheme == other.scheme && webSocketPath == other.webSocketPath
    }

    /// A query may hold a token, and leads nowhere else.
    private var webSocketPath: Substring? { webSocket?.path.prefix { $0 != "?" } }
}
