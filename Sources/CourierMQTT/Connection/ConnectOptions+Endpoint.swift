import CourierCore

extension ConnectOptions {
    /// The name of the server for errors and logs.
    var endpointName: String { Self.name(host.shownHost, port) }

    /// Host and port, for a Host field and to distinguish servers. Never print this text, because the host may be a URL
    /// with a password.
    var authority: String { Self.name(host, port) }

    private static func name(_ host: String, _ port: UInt16) -> String {
        host.contains(":") ? "[\(host)]:\(port)" : "\(host):\(port)"
    }
}
