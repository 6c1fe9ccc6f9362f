public import CourierCore

/// The times and limits of an ``HTTPConnectionServiceProvider``.
public struct HTTPConnectionServiceOptions: Sendable {
    /// How long one answer may take, from the look-up of the name to the last byte read, 15 s by default. Each redirect and
    /// each retry begins anew.
    public var timeout = Duration.seconds(15)
    /// How long before their end credentials are not given out any more, 60 s by default, but at most half of the time
    /// for which they are good. A client asks for new ones 30 s before the end, and must then get new ones.
    public var refreshMargin = Duration.seconds(60)
    /// The longest answer in bytes, 256 KiB by default. A longer one is not read to its end, and is an error.
    public var maximumResponseSize = 256 << 10
    /// How many redirects in a row are followed, 3 by default; all within the same origin.
    public var maximumRedirects = 3
    /// The longest time for which a `Retry-After` is obeyed, 120 s by default; the endpoint is asked again then.
    public var maximumRetryAfter = Duration.seconds(120)
    /// How often one call asks again by itself; never by default.
    public var retryPolicy = HTTPRetryPolicy.off
    /// Whether `http` is allowed for a host other than this machine, and through a proxy that the environment names;
    /// `false` by default.
    public var allowsPlainHTTP = false
    /// What takes the log; `nil` by default. It is told origins, statuses and times, and no secret.
    public var logHandler: (any LogHandler)?

    /// The default options.
    public init() {}
}
