/// One way to a broker, or to one node of a cluster of brokers, in a list of several.
///
/// ```swift
/// let options = ConnectOptions(
///     host: "a.example.com", port: 8883, clientId: "phone-7", username: "ada", password: secret, scheme: "tls",
///     alternatives: [
///         BrokerEndpoint(host: "b.example.com", port: 8883),
///         BrokerEndpoint(host: "far.example.org", port: 8883, priority: 1),
///     ])
/// ```
public struct BrokerEndpoint: Hashable, Sendable {
    /// The host name or IP address.
    public let host: String

    /// The port.
    public let port: UInt16

    /// Endpoints of a lower number are tried first; 0 by default, which is also that of the options' own host.
    public let priority: UInt16

    /// The share of the first tries that it gets among endpoints of the same priority; 1 by default, 0 is nearly none.
    public let weight: UInt16

    /// How to reach it, such as `tls`; `nil`, the default, is as the options say.
    public let scheme: String?

    /// Makes an endpoint. It is checked when the client connects.
    ///
    /// - Parameters:
    ///   - host: The host name or IP address.
    ///   - port: The port.
    ///   - priority: Lower numbers are tried first; 0 by default.
    ///   - weight: The share among endpoints of the same priority; 1 by default.
    ///   - scheme: How to reach it; by default as the options say.
    public init(host: String, port: UInt16, priority: UInt16 = 0, weight: UInt16 = 1, scheme: String? = nil) {
        self.host = host
        self.port = port
        self.priority = priority
        self.weight = weight
        self.scheme = scheme
    }
}

extension BrokerEndpoint: CustomStringConvertible {
    /// Host and port, then what differs from the defaults.
    public var description: String {
        let shown = host.shownHost
        var text = shown.contains(":") ? "[\(shown)]:\(port)" : "\(shown):\(port)"
        if priority != 0 { text += " priority \(priority)" }
        if weight != 1 { text += " weight \(weight)" }
        if let scheme { text += " scheme \(scheme)" }
        return text
    }
}
