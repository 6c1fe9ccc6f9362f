import CourierCore

/// The transport that `ConnectOptions.scheme` names.
enum ConnectionScheme: Hashable, Sendable {
    case tcp, tls, unix
    /// WebSocket without TLS (`ws`) and over TLS (`wss`).
    case ws, wss

    /// If the options name no scheme, these ports mean TLS: 8883 is MQTT over TLS, 443 is HTTPS.
    private static let tlsPorts: Set<UInt16> = [8883, 443]

    /// The scheme names, whose letter case does not matter. `tcp` and `mqtt` are plain TCP; `tls`, `ssl` and `mqtts`
    /// are TLS; `ws` is WebSocket, and `wss` is WebSocket over TLS. `unix` is a Unix socket, whose path is in `host`.
    private static let names: KeyValuePairs<String, ConnectionScheme> = [
        "tcp": .tcp, "mqtt": .tcp, "tls": .tls, "ssl": .tls, "mqtts": .tls, "ws": .ws, "wss": .wss, "unix": .unix,
    ]

    /// Makes the scheme of the options. If the options name no scheme, TLS is used in these cases:
    ///
    /// - The configuration has TLS settings.
    /// - The options name application protocols (ALPN).
    /// - The port is 8883 or 443.
    ///
    /// Otherwise, plain TCP is used. If the options also have WebSocket settings, WebSocket is used over TLS or TCP.
    ///
    /// - Throws: ``CourierError/Code/invalidConfiguration`` for an unknown scheme, and for a scheme without TLS if the
    ///   configuration has TLS settings. The provider's options must not turn off TLS.
    init(_ options: ConnectOptions, hasTLSSettings: Bool) throws(CourierError) {
        let hasProtocolNames = !(options.alpn ?? []).isEmpty
        guard let text = options.scheme else {
            let isSecure = hasTLSSettings || hasProtocolNames || Self.tlsPorts.contains(options.port)
            self = options.webSocket == nil ? (isSecure ? .tls : .tcp) : (isSecure ? .wss : .ws)
            return
        }
        guard let scheme = Self.names.first(where: { $0.key == text.lowercased() })?.value else {
            throw CourierError(
                .invalidConfiguration,
                "The scheme \(text.quoted()) is not known; use \(Self.names.map(\.key).joined(separator: ", ")), or "
                    + "nil."
            )
        }
        if scheme == .tcp || scheme == .ws, hasTLSSettings {
            throw CourierError(
                .invalidConfiguration,
                "The scheme \(text.quoted()) is without TLS, but the client's configuration has TLS settings; "
                    + "use \"\(scheme == .ws ? "wss" : "tls")\", or leave the settings out.")
        }
        self = scheme
    }
}
