import CourierCore

/// A broker's instruction to use another server.
struct Redirect: Hashable, Sendable {
    /// The time for which the redirect is valid.
    enum Term: Hashable, Sendable {
        /// The client uses the other server for the next attempt only (reason code 0x9C, Use another server).
        case once
        /// The server has moved (reason code 0x9D, Server moved). From now on, the client uses the other server
        /// whenever its options have the address of the old server.
        case forGood
    }

    private let host: String
    private let port: UInt16
    /// True if the connection to the redirecting server uses TLS. The connection to `target` then uses TLS, too.
    private let isSecure: Bool
    /// The other server to use.
    let target: BrokerEndpoint
    let term: Term
    /// True if the provider returns the credentials for ``target``. False if the client uses the current credentials.
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

    /// True if these options have the host and port of the server that sent this redirect.
    func leads(from options: ConnectOptions) -> Bool { options.host == host && options.port == port }

    /// Returns the options for the new server.
    ///
    /// Returns `options` unchanged in two cases: `options` do not have the address of the redirecting server, or the
    /// provider has not returned the new options yet.
    func applied(to options: ConnectOptions) -> ConnectOptions {
        guard leads(from: options), let base = asksProvider ? grant?.options : options else { return options }
        var target = base
        target.host = self.target.host
        target.port = self.target.port
        target.alternatives = options.alternatives
        if isSecure { target.scheme = Self.secureScheme(of: target) }
        return target
    }

    /// Returns a scheme that uses TLS, even if the scheme or the port of the options means a connection without TLS.
    private static func secureScheme(of options: ConnectOptions) -> String {
        switch options.scheme?.lowercased() {
        case "ws", "wss": "wss"
        case nil: options.webSocket == nil ? "tls" : "wss"
        default: "tls"
        }
    }
}
