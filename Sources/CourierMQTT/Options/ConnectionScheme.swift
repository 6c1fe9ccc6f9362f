import CourierCore

/// What a connection runs over, as `ConnectOptions.scheme` says it.
enum ConnectionScheme: Hashable, Sendable {
    case tcp, tls, unix

    /// The port of MQTT over TLS; 1883 is the one without.
    static let tlsPort: UInt16 = 8883

    /// The names, in any letter case: `tcp` and `mqtt` are plain, `tls`, `ssl` and `mqtts` are TLS, and `unix` is a
    /// Unix socket, whose path stands in `host`.
    private static let names: KeyValuePairs<String, ConnectionScheme> = [
        "tcp": .tcp, "mqtt": .tcp, "tls": .tls, "ssl": .tls, "mqtts": .tls, "unix": .unix,
    ]

    /// Decides: by the scheme where there is one; or else TLS if the configuration has TLS settings, if the options
    /// name application protocols (ALPN), which only TLS can offer, or at port 8883; plain TCP otherwise.
    ///
    /// - Throws: ``CourierError/Code/invalidConfiguration`` for an unknown scheme, and for one without TLS beside TLS
    ///   settings: credentials that come from elsewhere must not be able to turn the app's TLS off.
    init(_ options: ConnectOptions, hasTLSSettings: Bool) throws(CourierError) {
        let hasProtocolNames = !(options.alpn ?? []).isEmpty
        guard let text = options.scheme else {
            self = hasTLSSettings || hasProtocolNames || options.port == Self.tlsPort ? .tls : .tcp
            return
        }
        guard let scheme = Self.names.first(where: { $0.key == text.lowercased() })?.value else {
            throw CourierError(
                .invalidConfiguration,
                "The scheme \(text.quoted()) is not known; use \(Self.names.map(\.key).joined(separator: ", ")), or "
                    + "nil."
            )
        }
        if scheme == .tcp, hasTLSSettings {
            throw CourierError(
                .invalidConfiguration,
                "The scheme \(text.quoted()) is without TLS, but the client's configuration has TLS settings; use "
                    + "\"tls\", or "
                    + "leave the settings out.")
        }
        self = scheme
    }
}
