import CourierCore

extension ConnectOptions {
    /// How to call the server in an error or a log.
    var endpointName: String { host.contains(":") ? "[\(host)]:\(port)" : "\(host):\(port)" }
}
