public import CourierCore

/// The times and limits of an ``HTTPConnectionServiceProvider``.
public struct HTTPConnectionServiceOptions: Sendable {
    /// The maximum time for one response, from name resolution to the last byte, 15 s by default. After a redirect or a
    /// retry, the next response gets the full time again.
    public var timeout = Duration.seconds(15)
    /// The provider stops returning cached credentials this time before they expire: 60 s by default, but at most half
    /// of their lifetime. A client requests new credentials 30 s before the expiry. If the margin is more than 30 s,
    /// the client does not get the old credentials again.
    public var refreshMargin = Duration.seconds(60)
    /// The maximum size of a response in bytes, 256 KiB by default. A longer response is an error and is not read to
    /// its end.
    public var maximumResponseSize = 256 << 10
    /// The maximum number of redirects that are followed one after the other, 3 by default. Redirects to another origin
    /// are never followed. After a redirect with status 301, 302 or 303, a POST becomes a GET. The statuses 307 and 308
    /// keep method and body.
    public var maximumRedirects = 3
    /// The maximum pause after a response with `Retry-After`, 120 s by default. If the server requests a longer pause,
    /// this maximum is used instead.
    public var maximumRetryAfter = Duration.seconds(120)
    /// The automatic retries of one call; none by default.
    public var retryPolicy = HTTPRetryPolicy.off
    /// True if `http` is allowed to hosts other than this machine, and through a proxy that the environment names;
    /// `false` by default.
    public var allowsPlainHTTP = false
    /// The handler for log records; `nil` by default. The records contain origins, statuses and times, and no secrets.
    public var logHandler: (any LogHandler)?

    /// The default options.
    public init() {}
}
