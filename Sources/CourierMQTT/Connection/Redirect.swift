import CourierCore

/// A broker's instruction to use another server.
struct Redirect: Hashable, Sendable {
    enum Term: Hashable, Sendable {
        /// For the next attempt only (reason code 0x9C, Use another server).
        case once
        /// From now on (reason code 0x9D, Server moved), for options that name the server that has moved.
        case forGood
    }

    private let host: String
    private let port: UInt16
    /// Whether the connection to the redirecting server used TLS. Then the connection to `target` uses TLS, too.
    private let isSecure: Bool
    /// The server to use instead.
    let target: BrokerEndpoint
    let term: Term
    /// True if the provider is asked for the credentials of ``target``; `false` if the current credentials are used.
    let asksProvider: Bool
    /// The provider's options for ``target``; `nil` until the provider has returned them.
    var grant: ConnectionSupervisor.Grant?

    /// Makes a redirect from the server of `options` to `target`.
    init(
        from options: ConnectOptions, to target: ServerReference, term: Term, isSecure: Bool = false,
        asksProvider: Bool = false
    ) {
        host = options.host
        port = options.port
        self.target = BrokerEndpoint(host: target.host, port: target.port ?? options.port)
        self.term = term
        self.isSecure = isSecure
        self.asksProvider = asksProvider
    }

    /// Whether these options name the server that sent this redirect.
    func leads(from options: ConnectOptions) -> Bool { options.host == host && options.port == port }

    /// Returns the options for the new server, if `options` name the server that sent this redirect. Otherwise returns
    /// `options`.
    func applied(to options: ConnectOptions) -> ConnectOptions {
        guard leads(from: options), let base = asksProvider ? grant?.options : options else { return options }
        var target = base
        target.host = self.target.host
        target.port = self.target.port
        target.alternatives = options.alternatives
        if isSecure { target.scheme = Self.secureScheme(of: target) }
        return target
    }

    /// Returns a scheme that uses TLS, whatever the port and the scheme of the options are.
    private static func secureScheme(of options: ConnectOptions) -> String {
        switch options.scheme?.lowercased() {
        case "ws", "wss": "wss"
        case nil: options.webSocket == nil ? "tls" : "wss"
        default: "tls"
        }
    }
}
