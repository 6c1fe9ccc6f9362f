public import CourierCore

/// How ``CourierCore/ConnectOptions`` are made of the JSON that a token endpoint answers.
///
/// ```swift
/// // {"broker": {"host": "eu1.example.com", "port": 8883}, "token": "…", "expires_in": 3600}
/// let mapping = ConnectOptionsMapping(
///     host: "broker.host", port: "broker.port", username: .fixed("ada"), password: "token", scheme: .fixed("tls"),
///     expiry: .after("expires_in"))
/// ```
///
/// Types are taken as they are, except that a number may also stand in a string of digits. What is missing or of another
/// type is an error that names the path, never the value.
public struct ConnectOptionsMapping: Sendable {
    /// The broker's host name or IP address.
    public var host: ResponseField<String>
    /// The broker's port.
    public var port: ResponseField<UInt16>
    /// Seconds after the last packet that was sent until the client probes; 60 by default.
    public var keepAlive: ResponseField<UInt16>
    /// The client id; `nil`, the default, takes the one of the provider.
    public var clientId: ResponseField<String>?
    /// The user name.
    public var username: ResponseField<String>
    /// The password, which is where most brokers want a token.
    public var password: ResponseField<String>
    /// Whether the broker forgets the earlier session; `false` by default.
    public var isCleanSession: ResponseField<Bool>
    /// User properties of CONNECT in MQTT 5, an object of strings; `nil` by default.
    public var userProperties: ResponseField<[String: String]>?
    /// Protocol names for the TLS handshake, a list of strings; `nil` by default.
    public var alpn: ResponseField<[String]>?
    /// How to reach the broker, such as `tls`; `nil`, the default, leaves it to the client.
    public var scheme: ResponseField<String>?
    /// Path and header fields for the schemes `ws` and `wss`, always the same; `nil` by default.
    public var webSocket: WebSocketOptions?
    /// Further ways to the same broker or cluster, a list of objects with `host` and `port`, and with `priority`, `weight`
    /// and `scheme` where they differ from their defaults; `nil` by default.
    public var alternatives: ResponseField<[BrokerEndpoint]>?
    /// The method of an extended authentication of MQTT 5; `nil`, the default, is none.
    public var authenticationMethod: ResponseField<String>?
    /// The data with which the extended authentication begins, as text; `nil` by default.
    public var authenticationData: ResponseField<String>?
    /// How long the credentials are good; `.unknown` by default.
    public var expiry: GrantExpiry

    /// Says where each option comes from.
    ///
    /// - Parameters:
    ///   - host: The broker's host.
    ///   - port: The broker's port.
    ///   - keepAlive: Seconds after the last packet that was sent until the client probes; always 60 by default.
    ///   - clientId: The client id; the provider's by default.
    ///   - username: The user name.
    ///   - password: The password.
    ///   - isCleanSession: Whether the broker forgets the earlier session; never by default.
    ///   - userProperties: User properties of CONNECT; none by default.
    ///   - alpn: Protocol names for the TLS handshake; none by default.
    ///   - scheme: How to reach the broker; left to the client by default.
    ///   - webSocket: Path and header fields for WebSocket; none by default.
    ///   - alternatives: Further ways to the same broker; none by default.
    ///   - authenticationMethod: The method of an extended authentication; none by default.
    ///   - authenticationData: The data with which it begins; none by default.
    ///   - expiry: How long the credentials are good; unknown by default.
    public init(
        host: ResponseField<String>, port: ResponseField<UInt16>, keepAlive: ResponseField<UInt16> = .fixed(60),
        clientId: ResponseField<String>? = nil, username: ResponseField<String>, password: ResponseField<String>,
        isCleanSession: ResponseField<Bool> = .fixed(false), userProperties: ResponseField<[String: String]>? = nil,
        alpn: ResponseField<[String]>? = nil, scheme: ResponseField<String>? = nil,
        webSocket: WebSocketOptions? = nil, alternatives: ResponseField<[BrokerEndpoint]>? = nil,
        authenticationMethod: ResponseField<String>? = nil, authenticationData: ResponseField<String>? = nil,
        expiry: GrantExpiry = .unknown
    ) {
        self.host = host
        self.port = port
        self.keepAlive = keepAlive
        self.clientId = clientId
        self.username = username
        self.password = password
        self.isCleanSession = isCleanSession
        self.userProperties = userProperties
        self.alpn = alpn
        self.scheme = scheme
        self.webSocket = webSocket
        self.alternatives = alternatives
        self.authenticationMethod = authenticationMethod
        self.authenticationData = authenticationData
        self.expiry = expiry
    }
}
