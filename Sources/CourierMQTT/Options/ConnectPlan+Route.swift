import CourierCore
import CourierTransport

extension ConnectPlan {
    /// The endpoint of a connection, the settings of TLS and WebSocket, and the broker's name for events and errors.
    struct Route {
        /// The default application protocol (ALPN) of WebSocket over TLS: HTTP/1.1. The client opens a WebSocket by an
        /// upgrade request, which HTTP/2 does not have.
        static let webSocketProtocols = ["http/1.1"]

        let endpoint: TransportEndpoint
        let tls: TLSClientConfiguration?
        let webSocket: WebSocketConfiguration?
        let name: String

        /// Makes a route to the broker of the options, or to the app's own `endpoint` if it is not `nil`.
        ///
        /// - Throws: ``CourierError/Code/invalidConfiguration`` if the options or settings do not fit the endpoint.
        init(
            _ options: ConnectOptions, _ settings: TLSClientConfiguration?, _ endpoint: TransportEndpoint?
        ) throws(CourierError) {
            if let endpoint {
                self.endpoint = endpoint
                tls = try Self.withoutHost(settings, options, "\(endpoint)")
                webSocket = try options.webSocket.map { settings throws(CourierError) in
                    try Self.webSocket(settings, host: Self.hostField(options))
                }
                name = endpoint.description
                return
            }
            switch try ConnectionScheme(options, hasTLSSettings: settings != nil) {
            case .tcp:
                self.endpoint = try Self.tcp(options)
                tls = try Self.withoutTLS(options)
                webSocket = nil
                name = "mqtt://\(self.endpoint)"
            case .tls:
                self.endpoint = try Self.tcp(options)
                tls = try Self.offering(options.alpn, settings ?? TLSClientConfiguration())
                webSocket = nil
                name = "mqtts://\(self.endpoint)"
            case .ws:
                self.endpoint = try Self.tcp(options)
                tls = try Self.withoutTLS(options)
                let webSocket = try Self.webSocket(options.webSocket ?? WebSocketOptions())
                self.webSocket = webSocket
                name = "ws://\(self.endpoint)\(webSocket.shownPath)"
            case .wss:
                self.endpoint = try Self.tcp(options)
                var secure = try Self.offering(options.alpn, settings ?? TLSClientConfiguration())
                if secure.applicationProtocols.isEmpty { secure.applicationProtocols = Self.webSocketProtocols }
                tls = secure
                let webSocket = try Self.webSocket(options.webSocket ?? WebSocketOptions())
                self.webSocket = webSocket
                name = "wss://\(self.endpoint)\(webSocket.shownPath)"
            case .unix:
                self.endpoint = try Self.unix(options)
                tls = try Self.withoutHost(settings, options, "\(self.endpoint)")
                webSocket = try options.webSocket.map { settings throws(CourierError) in try Self.webSocket(settings) }
                name = self.endpoint.description
            }
        }

        private static func webSocket(
            _ options: WebSocketOptions, host: String? = nil
        ) throws(CourierError) -> WebSocketConfiguration {
            let configuration = WebSocketConfiguration(path: options.path, headers: options.headers, host: host)
            do throws(TransportError) {
                try configuration.check()
            } catch {
                throw CourierError(error)
            }
            return configuration
        }

        /// Returns the HTTP `Host` field for WebSocket over a stream that the app opened: host and port of the options.
        /// Returns `nil` if the options have no host.
        private static func hostField(_ options: ConnectOptions) -> String? {
            options.host.isEmpty ? nil : options.authority
        }

        private static func tcp(_ options: ConnectOptions) throws(CourierError) -> TransportEndpoint {
            let host = try BrokerHost(options.host)
            guard options.port != 0 else {
                throw CourierError(
                    .invalidConfiguration,
                    "The port of \(options.host.quoted()) is 0; most brokers use 1883, or 8883 for TLS.")
            }
            return .tcp(host: host.string, port: options.port)
        }

        /// The longest path of a Unix socket in bytes. Linux permits 108 bytes, including a zero byte at the end.
        private static let unixPathLimit = 107

        private static func unix(_ options: ConnectOptions) throws(CourierError) -> TransportEndpoint {
            let count = options.host.utf8.count
            guard (1...unixPathLimit).contains(count), !options.host.utf8.contains(0) else {
                throw CourierError(
                    .invalidConfiguration,
                    "The host \(options.host.quoted()) is not the path of a Unix socket. With the scheme \"unix\", "
                        + "host must be a path of 1 to \(unixPathLimit) bytes without U+0000.")
            }
            return .unix(path: options.host)
        }

        private static func withoutTLS(_ options: ConnectOptions) throws(CourierError) -> TLSClientConfiguration? {
            guard let names = options.alpn, !names.isEmpty else { return nil }
            throw CourierError(
                .invalidConfiguration,
                "The option alpn names application protocols (ALPN), but the connection is without TLS. "
                    + "ALPN needs TLS: leave alpn out, or use the scheme \"tls\".")
        }

        /// Returns the TLS settings for an endpoint without a host name, such as a Unix socket; `nil` without TLS
        /// settings.
        private static func withoutHost(
            _ settings: TLSClientConfiguration?, _ options: ConnectOptions, _ peer: String
        ) throws(CourierError) -> TLSClientConfiguration? {
            guard let settings else { return try withoutTLS(options) }
            guard settings.serverName != nil || settings.trust == .insecureSkipsVerification else {
                throw CourierError(
                    .invalidConfiguration,
                    "TLS over \(peer.quoted()) has no host name for the check of the certificate. "
                        + "Set serverName in the TLS settings, or leave the settings out.")
            }
            return try offering(options.alpn, settings)
        }

        /// Returns the settings with the application protocols (ALPN) of the options. If the options name none, returns
        /// the settings unchanged.
        private static func offering(
            _ names: [String]?, _ settings: TLSClientConfiguration
        ) throws(CourierError) -> TLSClientConfiguration {
            guard let names, !names.isEmpty else { return settings }
            try ConnectionSettings.checkProtocolNames(names)
            var settings = settings
            settings.applicationProtocols = names
            return settings
        }
    }
}
