/// How a client deals with several ways to its broker: see ``CourierCore/ConnectOptions/alternatives``.
///
/// ```swift
/// config.endpoints.usesServiceRecords = true
/// config.endpoints.returnsToPreferred = .after(.seconds(600))
/// ```
public struct EndpointPolicy: Hashable, Sendable {
    /// When a client that is connected to a less preferred endpoint goes back to a preferred one.
    public enum Return: Hashable, Sendable {
        /// When the connection is lost, not before.
        case never
        /// About this long after it was accepted, at a quiet moment; the time doubles with each try in vain, up to an hour
        /// or the time itself if that is longer.
        ///
        /// The connection is closed in order, and a preferred endpoint is tried; if it cannot be reached, the others
        /// follow as after a loss. The session survives, unless options or configuration let it end with the connection, and
        /// messages under way are finished on the new one.
        case after(Duration)
    }

    /// How many endpoints are used unless named, 16.
    public static let defaultMaximumCount = 16

    /// Whether DNS is asked for service records (SRV, RFC 2782) of the host: `_mqtt._tcp.<host>`, or
    /// `_secure-mqtt._tcp.<host>` for TLS; `false` by default.
    ///
    /// Where there are some, they take the place of the options' host, port and alternatives; where there are none, or DNS
    /// does not answer, those hold. Addresses, and the schemes for WebSocket and Unix sockets, have none.
    public var usesServiceRecords = false

    /// When a client goes back to a preferred endpoint; never by default.
    public var returnsToPreferred = Return.never

    /// How many endpoints are used, at least 1; the least preferred of more are left out, which the log says.
    public var maximumCount = EndpointPolicy.defaultMaximumCount

    /// The servers that the client may follow a server reference to. By default only the same host.
    public var redirects = RedirectPolicy()

    /// The defaults.
    public init() {}
}
