import CourierCore

extension ConnectOptions {
    /// How to call the server in an error or a log.
    var endpointName: String { Self.name(host.shownHost, port) }

    /// Host and port, for a Host field and to distinguish servers. Never print it, because the host may be a URL with a password.
    var authority: String { Self.name(host, port) }

    private static func name(_ host: String, _ port: UInt16) -> String {
        host.contains(":") ? "[\(host)]:\(port)" : "\(host):\(port)"
    }
}
