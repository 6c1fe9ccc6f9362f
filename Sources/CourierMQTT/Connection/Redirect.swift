import CourierCore

/// A broker's word that its clients are to use another server.
struct Redirect: Hashable, Sendable {
    enum Term: Hashable, Sendable {
        /// For the next attempt (0x9C).
        case once
        /// From now on (0x9D), for options that name the server that has moved.
        case forGood
    }

    private let host: String
    private let port: UInt16
    private let target: ServerReference
    let term: Term

    /// Leads from the server of `options` to `target`.
    init(from options: ConnectOptions, to target: ServerReference, term: Term) {
        host = options.host
        port = options.port
        self.target = target
        self.term = term
    }

    /// The options for the server to use instead, where they name the one that this leads away from.
    func applied(to options: ConnectOptions) -> ConnectOptions {
        guard options.host == host, options.port == port else { return options }
        var options = options
        options.host = target.host
        if let port = target.port { options.port = port }
        return options
    }
}
