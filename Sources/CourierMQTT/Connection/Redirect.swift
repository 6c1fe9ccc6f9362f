import CourierCore

/// A broker's instruction to use another server.
struct Redirect: Hashable, Sendable {
    enum Term: Hashable, Sendable {
        /// For the next attempt (0x9C).
        case once
        /// From now on (0x9D), for options that name the server that has moved.
        case forGood
    }

    private let host: String
    private let port: UInt16
    /// Whether the server was connected by TLS, so that the other one is, too.
    private let isSecure: Bool
    /// The server to use instead.
    let target: BrokerEndpoint
    let term: Term
    /// Whether the provider is asked for the credentials of ``target``; otherwise the present ones are used.
    let asksProvider: Bool
    /// The provider's options for ``target``.
    var grant: ConnectionSupervisor.Grant?

    /// Leads from the server of `options` to `target`.
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

    /// Whether these options name the server that this leads away from.
    func leads(from options: ConnectOptions) -> Bool { options.host == host && options.port == port }

    /// The options for the new server, if `options` name the server that sent this redirect.
    func applied(to options: ConnectOptions) -> ConnectOptions {
        guard leads(from: options), let base = asksProvider ? grant?.options : options else { return options }
        var target = base
        target.host = self.target.host
        target.port = self.target.port
        target.alternatives = options.alternatives
        if isSecure { target.scheme = Self.secureScheme(of: target) }
        return target
    }

    /// The scheme that keeps TLS on, whatever the port and the provider say.
    private static func secureScheme(of options: ConnectOptions) -> String {
        switch options.scheme?.lowercased() {
        case "ws", "wss": "wss"
        case nil: options.webSocket == nil ? "tls" : "wss"
        default: "tls"
        }
    }
}
