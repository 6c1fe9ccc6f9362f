import CourierCore

extension ConnectOptions {
    /// The host and port of the server, for errors and logs. If the host is a URL with a password, the password is left
    /// out.
    var endpointName: String { Self.name(host.shownHost, port) }

    /// The host and port of the server, for an HTTP `Host` field and to distinguish servers. Never print this text: the
    /// host may be a URL with a password.
    var authority: String { Self.name(host, port) }

    private static func name(_ host: String, _ port: UInt16) -> String {
        host.contains(":") ? "[\(host)]:\(port)" : "\(host):\(port)"
    }
}
