public import CourierCore

/// Describes how to create ``CourierCore/ConnectOptions`` from the JSON response of a token endpoint.
///
/// ```swift
/// // {"broker": {"host": "eu1.example.com", "port": 8883}, "token": "…", "expires_in": 3600}
/// let mapping = ConnectOptionsMapping(
///     host: "broker.host", port: "broker.port", username: .fixed("ada"), password: "token", scheme: .fixed("tls"),
///     expiry: .after("expires_in"))
/// ```
///
/// Values are not converted, except that a number may also be a string, such as `"8883"`. If a value is missing or has
/// another type, an error is thrown. The error names the path, and never contains the value.
public struct ConnectOptionsMapping: Sendable {
    /// The broker's host name or IP address.
    public var host: ResponseField<String>
    /// The broker's port.
    public var port: ResponseField<UInt16>
    /// The keep-alive interval: seconds after the last sent packet until the client sends a PINGREQ; 60 by default.
    public var keepAlive: ResponseField<UInt16>
    /// The client id; `nil`, the default, means the provider's client id.
    public var clientId: ResponseField<String>?
    /// The user name.
    public var username: ResponseField<String>
    /// The password; most brokers expect a token here.
    public var password: ResponseField<String>
    /// True if the broker discards the previous session; `false` by default.
    public var isCleanSession: ResponseField<Bool>
    /// The user properties of an MQTT 5 CONNECT packet, a JSON object of strings; `nil` by default.
    public var userProperties: ResponseField<[String: String]>?
    /// The protocol names (ALPN) for the TLS handshake, a JSON list of strings; `nil` by default.
    public var alpn: ResponseField<[String]>?
    /// The connection scheme, such as `tls`. If it is `nil`, the default, the client chooses.
    public var scheme: ResponseField<String>?
    /// The path and header fields for the schemes `ws` and `wss`, which are not read from the response; `nil` by
    /// default.
    public var webSocket: WebSocketOptions?
    /// Further endpoints of the same broker or cluster, a JSON list of objects with `host` and `port`; `nil` by
    /// default. An object may also contain `priority`, `weight` and `scheme` if they differ from their defaults.
    public var alternatives: ResponseField<[BrokerEndpoint]>?
    /// The method of MQTT 5 enhanced authentication; `nil`, the default, means none.
    public var authenticationMethod: ResponseField<String>?
    /// The first data of enhanced authentication, as text; `nil` by default.
    public var authenticationData: ResponseField<String>?
    /// The source of the credentials' expiry; `.unknown` by default.
    public var expiry: GrantExpiry

    /// Creates a mapping with a source for each option.
    ///
    /// - Parameters:
    ///   - host: The broker's host.
    ///   - port: The broker's port.
    ///   - keepAlive: Seconds after the last sent packet until the client sends a PINGREQ; always 60 by default.
    ///   - clientId: The client id; the provider's client id by default.
    ///   - username: The user name.
    ///   - password: The password.
    ///   - isCleanSession: `true` if the broker discards the previous session; always `false` by default.
    ///   - userProperties: User properties of CONNECT; none by default.
    ///   - alpn: The protocol names (ALPN) for the TLS handshake; none by default.
    ///   - scheme: The connection scheme; chosen by the client by default.
    ///   - webSocket: The path and header fields for WebSocket; none by default.
    ///   - alternatives: Further endpoints of the same broker; none by default.
    ///   - authenticationMethod: The method of enhanced authentication; none by default.
    ///   - authenticationData: The first data of enhanced authentication; none by default.
    ///   - expiry: The source of the credentials' expiry; unknown by default.
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
