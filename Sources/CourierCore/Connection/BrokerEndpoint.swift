/// The address of a broker, or of one node of a broker cluster, in a list of several addresses.
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

    /// The priority. Endpoints with lower numbers are tried first; 0 by default. The host of the connect options has
    /// priority 0.
    public let priority: UInt16

    /// The relative chance that this endpoint is tried first among the endpoints of the same priority; 1 by default. An
    /// endpoint with weight 0 is almost always tried after endpoints with a higher weight.
    public let weight: UInt16

    /// The scheme of this endpoint, such as `tls`. `nil`, the default, means the scheme of the options.
    public let scheme: String?

    /// Makes an endpoint. The client checks the endpoint when it connects.
    ///
    /// - Parameters:
    ///   - host: The host name or IP address.
    ///   - port: The port.
    ///   - priority: Lower numbers are tried first; 0 by default.
    ///   - weight: The relative chance to be tried first among endpoints of the same priority; 1 by default.
    ///   - scheme: The scheme of this endpoint; by default the scheme of the options.
    public init(host: String, port: UInt16, priority: UInt16 = 0, weight: UInt16 = 1, scheme: String? = nil) {
        self.host = host
        self.port = port
        self.priority = priority
        self.weight = weight
        self.scheme = scheme
    }
}

extension BrokerEndpoint: CustomStringConvertible {
    /// Host and port, followed by the values that differ from the defaults.
    public var description: String {
        let shown = host.shownHost
        var text = shown.contains(":") ? "[\(shown)]:\(port)" : "\(shown):\(port)"
        if priority != 0 { text += " priority \(priority)" }
        if weight != 1 { text += " weight \(weight)" }
        if let scheme { text += " scheme \(scheme)" }
        return text
    }
}
