/// The rules by which a client chooses among several endpoints of its broker; see
/// ``CourierCore/ConnectOptions/alternatives``.
///
/// ```swift
/// config.endpoints.usesServiceRecords = true
/// config.endpoints.returnsToPreferred = .after(.seconds(600))
/// ```
public struct EndpointPolicy: Hashable, Sendable {
    /// The rule for returning from a less preferred endpoint to a preferred endpoint.
    public enum Return: Hashable, Sendable {
        /// The client returns only after the connection was lost.
        case never
        /// The client returns about this long after the connection was accepted, at a moment without traffic. Each
        /// failed attempt to return doubles the time, up to one hour. If the given time is longer than one hour, it is
        /// not doubled.
        ///
        /// The client closes the connection with DISCONNECT and tries a preferred endpoint. If this attempt fails, the
        /// client tries the other endpoints, as after a lost connection. The session survives, unless the connect
        /// options make it end with the connection. Unacknowledged messages are finished on the new connection.
        ///
        /// The client never has two connections at the same time. If a preferred endpoint does not respond, each try
        /// takes the whole connect timeout.
        case after(Duration)
    }

    /// The default of ``maximumCount``, 16.
    public static let defaultMaximumCount = 16

    /// Whether DNS is asked for service records (SRV, RFC 2782) of the host: `_mqtt._tcp.<host>`, or
    /// `_secure-mqtt._tcp.<host>` for TLS; `false` by default.
    ///
    /// Service records replace the host, port and alternatives of the options. If there are no service records, or if
    /// DNS does not respond, the options are used. No service records are looked up for IP addresses, WebSocket and
    /// Unix sockets.
    public var usesServiceRecords = false

    /// The rule for returning to a preferred endpoint; never by default.
    public var returnsToPreferred = Return.never

    /// The largest number of endpoints that are used, at least 1; 16 by default. If there are more endpoints, the least
    /// preferred endpoints are left out, and a warning is logged.
    public var maximumCount = EndpointPolicy.defaultMaximumCount

    /// The servers that a broker may redirect the client to; by default, the hosts of the client's own endpoints, at
    /// any port.
    public var redirects = RedirectPolicy()

    /// Makes a policy with the default values.
    public init() {}
}
