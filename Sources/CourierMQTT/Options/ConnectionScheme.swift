import CourierCore

/// What a connection runs over, as `ConnectOptions.scheme` says it.
enum ConnectionScheme: Hashable, Sendable {
    case tcp, tls, unix
    /// WebSocket, plain and above TLS.
    case ws, wss

    /// The ports of MQTT over TLS and of HTTPS; 1883 and 80 are those without.
    private static let tlsPorts: Set<UInt16> = [8883, 443]

    /// The names, in any letter case: `tcp` and `mqtt` are plain, `tls`, `ssl` and `mqtts` are TLS, `ws` and `wss` are
    /// WebSocket over them, and `unix` is a Unix socket, whose path stands in `host`.
    private static let names: KeyValuePairs<String, ConnectionScheme> = [
        "tcp": .tcp, "mqtt": .tcp, "tls": .tls, "ssl": .tls, "mqtts": .tls, "ws": .ws, "wss": .wss, "unix": .unix,
    ]

    /// Decides: by the scheme where there is one; or else TLS if the configuration has TLS settings, if the options
    /// name application protocols (ALPN), which only TLS can offer, or at port 8883 or 443, and plain TCP otherwise, with
    /// WebSocket above it if the options have settings for that.
    ///
    /// - Throws: ``CourierError/Code/invalidConfiguration`` for an unknown scheme, and for one without TLS beside TLS
    ///   settings: credentials that come from elsewhere must not be able to turn the app's TLS off.
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
                "The scheme \(text.quoted()) is without TLS, but the client's configuration has TLS settings; use "
                    + "\"\(scheme == .ws ? "wss" : "tls")\", or "
                    + "leave the settings out.")
        }
        self = scheme
    }
}
