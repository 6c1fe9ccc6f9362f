import CourierMQTT
import CourierTransport

/// How clients get to a broker: one column of the matrix.
struct Way: Sendable {
    /// What it is called in the matrix, such as `wss`.
    let name: String
    /// The scheme of the connect options.
    let scheme: String
    /// The broker's host, or the path of its socket, as the connect options have it.
    private(set) var host = "127.0.0.1"
    private(set) var port: UInt16 = 0
    private(set) var tls: TLSClientConfiguration?
    private(set) var proxy = ProxySetting.direct
    private(set) var webSocket: WebSocketOptions?
    /// What the broker can not do by this way, each with the reason.
    private(set) var lacks: [Ability: String] = [:]

    /// A way to a port of this machine; `scheme` is that of the name by default.
    init(
        _ name: String, scheme: String? = nil, port: UInt16, tls: TLSClientConfiguration? = nil,
        proxy: ProxySetting = .direct, webSocket: WebSocketOptions? = nil, lacks: [Ability: String] = [:]
    ) {
        self.name = name
        self.scheme = scheme ?? name
        self.port = port
        self.tls = tls
        self.proxy = proxy
        self.webSocket = webSocket
        self.lacks = lacks
    }

    /// The way over a Unix socket.
    init(socketPath: String) {
        name = "unix"
        scheme = "unix"
        host = socketPath
    }

    /// Where it ends, before any TLS and WebSocket.
    var endpoint: TransportEndpoint { scheme == "unix" ? .unix(path: host) : .tcp(host: host, port: port) }

    /// The same way with `relay` in front of the broker.
    func through(_ relay: Relay) -> Way {
        var way = self
        way.host = relay.host
        way.port = relay.port
        return way
    }

    func options(clientID: String, _ account: Account, isCleanSession: Bool) -> ConnectOptions {
        ConnectOptions(
            host: host, port: port, clientId: clientID, username: account.user, password: account.password,
            isCleanSession: isCleanSession, scheme: scheme, webSocket: webSocket)
    }
}
