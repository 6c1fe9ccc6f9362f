/// The broker's address and the client's credentials for one connection attempt. An auth provider returns them.
///
/// The descriptions and the mirror of the options show no secret. The hidden values are ``password``, the values of
/// ``userProperties`` and ``userPropertyList``, and the values of the header fields in ``webSocket``. The user name is
/// shown.
///
/// ```swift
/// let options = ConnectOptions(
///     host: "broker.example.com", transport: .tls, clientId: "phone-7", username: "ada", password: secret)
/// ```
public struct ConnectOptions: Hashable, Sendable {
    private struct Values: Hashable, Sendable {
        var host: String
        var port: UInt16
        let keepAlive: UInt16
        var clientId: String
        let username: String
        let password: String
        let isCleanSession: Bool
        let userProperties: [String: String]?
        let userPropertyList: [UserProperty]
        let alpn: [String]?
        var scheme: String?
        let webSocket: WebSocketOptions?
        var extendedAuthentication: ExtendedAuthentication?
        var alternatives: [BrokerEndpoint]
    }

    private final class Box: Sendable {
        let values: Values

        init(_ values: Values) { self.values = values }
    }

    /// The object that contains all values, so that a copy of the options copies only a reference. Every event and many
    /// parts of a client have a copy of the options.
    private var box: Box

    /// Returns `true` if both values are `nil`, or if one value is an unchanged copy of the other. Returns `false` for
    /// equal options that were created separately. This check is faster than comparing all values.
    package static func areIdentical(_ left: ConnectOptions?, _ right: ConnectOptions?) -> Bool {
        left?.box === right?.box
    }

    private mutating func set<Value: Equatable>(_ field: WritableKeyPath<Values, Value>, to value: Value) {
        guard box.values[keyPath: field] != value else { return }
        var values = box.values
        values[keyPath: field] = value
        box = Box(values)
    }

    /// The broker's host name or IP address; with the scheme `unix` the path of its socket. If the name has several
    /// addresses, each client remembers at most 16 addresses that failed, and tries the other addresses first.
    public package(set) var host: String {
        get { box.values.host }
        set { set(\.host, to: newValue) }
    }

    /// The broker's port; not used with the scheme `unix`.
    public package(set) var port: UInt16 {
        get { box.values.port }
        set { set(\.port, to: newValue) }
    }

    /// Seconds after the last sent packet until the client sends PINGREQ; 60 by default, 0 for no PINGREQ.
    public var keepAlive: UInt16 { box.values.keepAlive }

    /// The id that identifies this client and its session at the broker; unique among the broker's clients.
    ///
    /// Each `%` in the id is replaced by a random letter or digit. The client chooses these characters once, so that it
    /// has the same id at every reconnect. Events, `%c` in topics and the message store use the resulting id. With `%`
    /// in the id, set ``isCleanSession`` to `true`, because no later client can continue the session.
    public package(set) var clientId: String {
        get { box.values.clientId }
        set { set(\.clientId, to: newValue) }
    }

    /// The user name; empty sends none.
    public var username: String { box.values.username }

    /// The password; empty sends none.
    public var password: String { box.values.password }

    /// Whether the broker deletes this client's earlier session; `false` by default.
    public var isCleanSession: Bool { box.values.isCleanSession }

    /// User properties of CONNECT in MQTT 5, ignored in 3.1.1; `nil` by default.
    public var userProperties: [String: String]? { box.values.userProperties }

    /// Further user properties of CONNECT in MQTT 5, in this order; names may repeat. Empty by default, and ignored in
    /// 3.1.1.
    ///
    /// These properties are sent after ``userProperties``. ``userProperties`` and this list together may have at most
    /// 256 properties.
    public var userPropertyList: [UserProperty] { box.values.userPropertyList }

    /// Protocol names offered in the TLS handshake (ALPN), in the order of preference; `nil` by default.
    public var alpn: [String]? { box.values.alpn }

    /// The scheme of the connection: `tcp` or `mqtt`, `tls`, `ssl` or `mqtts`, `ws`, `wss`, or `unix` for a Unix socket
    /// at the path ``host``.
    ///
    /// With `nil`, the default, the client uses TLS if its configuration has TLS settings or `alpn` names protocols. It
    /// also uses TLS if the port is a TLS port such as 8883. It uses WebSocket if `webSocket` is set.
    public package(set) var scheme: String? {
        get { box.values.scheme }
        set { set(\.scheme, to: newValue) }
    }

    /// Path and header fields for the schemes `ws` and `wss`. `nil`, the default, means the path `/mqtt` and no header
    /// fields.
    ///
    /// If options are set here, the client also uses WebSocket in three cases: without a scheme, with the scheme
    /// `unix`, and over a byte stream that the app supplies. With a scheme for TCP or TLS, the client ignores these
    /// options.
    public var webSocket: WebSocketOptions? { box.values.webSocket }

    /// Extended authentication of MQTT 5; `nil` by default. If this value is set, the client does not try MQTT 3.1.1,
    /// because that version does not support it.
    public package(set) var extendedAuthentication: ExtendedAuthentication? {
        get { box.values.extendedAuthentication }
        set { set(\.extendedAuthentication, to: newValue) }
    }

    /// Further endpoints of the same broker or cluster, which the client tries if ``host`` cannot be reached; empty by
    /// default.
    ///
    /// ``host`` and ``port`` are the first choice, with priority 0. All endpoints must be nodes of one cluster or
    /// addresses of one broker, so that they have the same sessions. All endpoints receive the same client id and
    /// credentials.
    public package(set) var alternatives: [BrokerEndpoint] {
        get { box.values.alternatives }
        set { set(\.alternatives, to: newValue) }
    }

    /// Makes options without a check. The client checks options from a provider when it connects. It checks fixed
    /// options when the client is created.
    ///
    /// - Parameters:
    ///   - host: The broker's host name or IP address; with the scheme `unix` the path of its socket.
    ///   - port: The broker's port.
    ///   - keepAlive: Seconds after the last sent packet until the client sends PINGREQ; 60 by default, 0 for no
    ///     PINGREQ.
    ///   - clientId: The id of this client, unique among the broker's clients; each `%` becomes a random character.
    ///   - username: The user name; empty, the default, sends none.
    ///   - password: The password; empty, the default, sends none.
    ///   - isCleanSession: Whether the broker deletes the earlier session; `false` by default.
    ///   - userProperties: User properties of CONNECT in MQTT 5; `nil` by default.
    ///   - alpn: Protocol names for the TLS handshake; `nil` by default.
    ///   - scheme: The scheme of the connection; `nil` by default.
    ///   - webSocket: Path and header fields for the schemes `ws` and `wss`; `nil` by default.
    ///   - extendedAuthentication: Extended authentication of MQTT 5; `nil` by default.
    ///   - alternatives: Further endpoints of the same broker or cluster; none by default.
    ///   - userPropertyList: Further user properties of CONNECT, in this order; none by default.
    public init(
        host: String,
        port: UInt16,
        keepAlive: UInt16 = 60,
        clientId: String,
        username: String = "",
        password: String = "",
        isCleanSession: Bool = false,
        userProperties: [String: String]? = nil,
        alpn: [String]? = nil,
        scheme: String? = nil,
        webSocket: WebSocketOptions? = nil,
        extendedAuthentication: ExtendedAuthentication? = nil,
        alternatives: [BrokerEndpoint] = [],
        userPropertyList: [UserProperty] = []
    ) {
        box = Box(
            Values(
                host: host, port: port, keepAlive: keepAlive, clientId: clientId, username: username,
                password: password, isCleanSession: isCleanSession, userProperties: userProperties,
                userPropertyList: userPropertyList, alpn: alpn, scheme: scheme, webSocket: webSocket,
                extendedAuthentication: extendedAuthentication,
                alternatives: alternatives))
    }

    /// Whether all fields are equal. Client ids are compared by their bytes, as brokers compare them.
    public static func == (one: ConnectOptions, other: ConnectOptions) -> Bool {
        one.box === other.box
            || (one.box.values == other.box.values && TopicRules.sameBytes(one.clientId, other.clientId))
    }

    /// Hashes all fields.
    public func hash(into hasher: inout Hasher) { hasher.combine(box.values) }
}

extension ConnectOptions: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    private static let hidden = "<hidden>"

    private var shownFields: KeyValuePairs<String, String> {
        [
            "host": host.shownHost.debugDescription,
            "port": "\(port)",
            "keepAlive": "\(keepAlive)",
            "clientId": clientId.debugDescription,
            "username": username.debugDescription,
            "password": Self.hidden,
            "isCleanSession": "\(isCleanSession)",
            "userProperties": userProperties.map { properties in
                "[\(properties.keys.sorted().map { "\($0.debugDescription): \(Self.hidden)" }.joined(separator: ", "))]"
            } ?? "nil",
            "userPropertyList":
                "[\(userPropertyList.map { "\($0.name.debugDescription): \(Self.hidden)" }.joined(separator: ", "))]",
            "alpn": alpn.map { "\($0)" } ?? "nil",
            "scheme": scheme?.debugDescription ?? "nil",
            "webSocket": webSocket?.description ?? "nil",
            "extendedAuthentication": extendedAuthentication?.description ?? "nil",
            "alternatives": "\(alternatives)",
        ]
    }

    /// All fields except the password and the values of user properties and header fields.
    public var description: String {
        "ConnectOptions(\(shownFields.map { "\($0.key): \($0.value)" }.joined(separator: ", ")))"
    }

    /// The same text as ``description``.
    public var debugDescription: String { description }

    /// Shows the same fields as ``description``, so that `dump` and debuggers show no secrets either.
    public var customMirror: Mirror {
        Mirror(self, children: shownFields.map { (label: $0.key, value: $0.value as Any) }, displayStyle: .struct)
    }
}
