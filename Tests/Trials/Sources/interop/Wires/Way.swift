import CourierMQTT
import CourierTransport

/// A way for clients to connect to a broker: one column of the matrix.
struct Way: Sendable {
    /// The way's name in the matrix, such as `wss`.
    let name: String
    /// The scheme for the connect options, such as `tls`.
    let scheme: String
    /// The broker's host for the connect options, or the path of its Unix socket.
    private(set) var host = "127.0.0.1"
    private(set) var port: UInt16 = 0
    private(set) var tls: TLSClientConfiguration?
    private(set) var proxy = ProxySetting.direct
    private(set) var webSocket: WebSocketOptions?
    /// The abilities that the broker lacks over this way only, each with the reason.
    private(set) var lacks: [Ability: String] = [:]

    /// Creates a way to a port of this machine. The default `scheme` is `name`.
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

    /// Creates a way over a Unix socket.
    init(socketPath: String) {
        name = "unix"
        scheme = "unix"
        host = socketPath
    }

    /// The address of the broker's TCP port or Unix socket.
    var endpoint: TransportEndpoint { scheme == "unix" ? .unix(path: host) : .tcp(host: host, port: port) }

    /// Returns the same way, with `relay` between the clients and the broker.
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
