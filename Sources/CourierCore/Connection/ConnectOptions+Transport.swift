extension ConnectOptions {
    /// The transport of a connection.
    public enum Transport: Hashable, Sendable {
        /// TCP without encryption, by default at port 1883.
        case tcp
        /// TLS, by default at port 8883. The certificate and the host name are verified.
        case tls
        /// WebSocket without encryption, by default at port 80.
        case webSocket(WebSocketOptions)
        /// WebSocket over TLS, by default at port 443. The certificate and the host name are verified.
        case secureWebSocket(WebSocketOptions)
        /// A Unix socket; ``ConnectOptions/host`` is its path, and the port is not used.
        case unixSocket

        /// WebSocket without encryption, with the path `/mqtt`.
        public static var webSocket: Transport { .webSocket(WebSocketOptions()) }

        /// WebSocket over TLS, with the path `/mqtt`.
        public static var secureWebSocket: Transport { .secureWebSocket(WebSocketOptions()) }

        /// The port that is used if the options contain no port; 0 for a Unix socket.
        public var defaultPort: UInt16 {
            switch self {
            case .tcp: 1_883
            case .tls: 8_883
            case .webSocket: 80
            case .secureWebSocket: 443
            case .unixSocket: 0
            }
        }

        /// The scheme of this transport, for ``ConnectOptions/scheme``.
        fileprivate var scheme: String {
            switch self {
            case .tcp: "tcp"
            case .tls: "tls"
            case .webSocket: "ws"
            case .secureWebSocket: "wss"
            case .unixSocket: "unix"
            }
        }

        fileprivate var webSocketOptions: WebSocketOptions? {
            switch self {
            case .webSocket(let options), .secureWebSocket(let options): options
            case .tcp, .tls, .unixSocket: nil
            }
        }
    }

    /// Makes options with a transport instead of the text ``scheme``. The client checks options from a provider when it
    /// connects. It checks fixed options when the client is created.
    ///
    /// ```swift
    /// let options = ConnectOptions(host: "broker.example.com", transport: .tls, clientId: "phone-7")
    /// ```
    ///
    /// - Parameters:
    ///   - host: The broker's host name or IP address; with ``Transport/unixSocket`` the path of its socket.
    ///   - port: The broker's port; ``Transport/defaultPort`` by default.
    ///   - transport: The transport.
    ///   - keepAlive: Seconds after the last sent packet until the client sends PINGREQ; 60 by default, 0 for no
    ///     PINGREQ.
    ///   - clientId: The id of this client, unique among the broker's clients; each `%` becomes a random character.
    ///   - username: The user name; empty, the default, sends none.
    ///   - password: The password; empty, the default, sends none.
    ///   - isCleanSession: Whether the broker deletes the session of an earlier connection; `false` by default.
    ///   - alpn: Protocol names for the TLS handshake; `nil` by default.
    ///   - extendedAuthentication: Extended authentication of MQTT 5; `nil` by default.
    ///   - alternatives: Further endpoints of the same broker or cluster; none by default.
    ///   - userProperties: User properties of CONNECT in MQTT 5, in this order; none by default.
    public init(
        host: String,
        port: UInt16? = nil,
        transport: Transport,
        keepAlive: UInt16 = 60,
        clientId: String,
        username: String = "",
        password: String = "",
        isCleanSession: Bool = false,
        alpn: [String]? = nil,
        extendedAuthentication: ExtendedAuthentication? = nil,
        alternatives: [BrokerEndpoint] = [],
        userProperties: [UserProperty] = []
    ) {
        self.init(
            host: host, port: port ?? transport.defaultPort, keepAlive: keepAlive, clientId: clientId,
            username: username,
            password: password, isCleanSession: isCleanSession, alpn: alpn, scheme: transport.scheme,
            webSocket: transport.webSocketOptions, extendedAuthentication: extendedAuthentication,
            alternatives: alternatives, userPropertyList: userProperties)
    }
}
