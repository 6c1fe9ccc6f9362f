import CourierCore

/// The times and limits of a ``ConnectionSupervisor``.
struct SupervisorConfiguration: Hashable, Sendable {
    // MARK: Pauses between attempts

    /// The pause after the first failure, 1 s by default. Each further failure doubles it.
    var reconnectInterval = Duration.seconds(1)
    /// The longest pause between attempts, 30 s by default.
    var maximumReconnectInterval = Duration.seconds(30)
    /// The random part of the pauses; ``ReconnectJitter/equal`` by default.
    var jitter = ReconnectJitter.equal
    /// How long a connection must last so that the next loss counts as the first one again, 10 s by default.
    var stableConnectionTime = Duration.seconds(10)
    /// The shortest time between two attempts outside the schedule, such as after a returning network, 5 s by default.
    /// So an unstable network does not cause a burst of attempts.
    var urgentAttemptSpacing = Duration.seconds(5)
    /// The pause between attempts while the network monitor reports no network, 60 s by default. Attempts continue,
    /// because the monitor may be wrong.
    var offlineRetryInterval = Duration.seconds(60)

    // MARK: Another client with the same client id

    /// How many connections in a row the broker must drop right after CONNACK to mean another client with the same id,
    /// 3 by default. Only before MQTT 5.
    var takeoverDropCount = 3
    /// The longest duration of a connection that counts as dropped right after CONNACK, 5 s by default.
    var takeoverDropWindow = Duration.seconds(5)
    /// How many connections in a row the broker must drop within ``takeoverTurnWindow`` to mean another client, 6 by
    /// default.
    var takeoverTurnCount = 6
    /// The maximum of ``takeoverTurnWindow``, 30 s by default, because proxies close idle connections after a minute.
    var maximumTakeoverTurnWindow = Duration.seconds(30)
    /// The pause after the first takeover of the session, 60 s by default. Each further takeover doubles it.
    var takeoverInterval = Duration.seconds(60)
    /// The longest pause after a takeover of the session, 10 min by default. After a connection that lasted longer than
    /// this time, the pauses start again with the first one.
    var maximumTakeoverInterval = Duration.seconds(600)

    // MARK: Endpoints

    /// The maximum number of endpoints in a list, 16 by default. If there are more, the least preferred are left out.
    var maximumEndpoints = EndpointPolicy.defaultMaximumCount
    /// Whether DNS service records are looked up; `false` by default.
    var usesServiceRecords = false
    /// The maximum time for the look-up of service records, 10 s by default. After it, the client continues without
    /// them.
    var serviceRecordTimeout = Duration.seconds(10)
    /// How long a connection to a less preferred endpoint lasts until the client tries a preferred one. `nil`, the
    /// default, means no limit. The time doubles with each failed try.
    var returnInterval: Duration?
    /// The longest time between two tries of a preferred endpoint, 1 h by default.
    var maximumReturnInterval = Duration.seconds(3_600)
    /// How long a connection must be quiet before the client leaves it for a preferred endpoint, 1 s by default.
    var returnQuietTime = Duration.seconds(1)
    /// The longest wait for a quiet moment, 60 s by default.
    var returnPatience = Duration.seconds(60)

    // MARK: Credentials

    /// The maximum time for an answer of the provider; `nil`, the default, means no limit.
    var authenticationTimeout: Duration?
    /// How long before the expiry of credentials new ones are fetched, 30 s by default.
    var renewalMargin = Duration.seconds(30)
    /// The shortest time from CONNACK, or from the provider's last answer, to a renewal, 1 s by default. It matters for
    /// credentials with a very short lifetime. It equals the first pause after a failure, so that credentials that last
    /// 2 s still work.
    var minimumRenewalInterval = Duration.seconds(1)
    /// The response to final failures.
    var whenRefused = ReconnectPolicy.RefusalResponse.keepTrying
    /// Whether the options never change, so that the provider has no others; `false` by default.
    var areOptionsFixed = false

    // MARK: Attempts and connections

    /// Whether the options alone decide if TLS is used, because there are no TLS settings and no byte streams of the
    /// app; `false` by default.
    var isTLSUpToOptions = false
    /// How long the provider or the broker may stay silent before the log warns; 4 s by default, `nil` for no warning.
    var slowAttemptTime: Duration? = .seconds(4)
    /// When an attempt without CONNACK is given up.
    var connectTimeout = ConnectTimeoutPolicy()
    /// When a silent connection is given up.
    var idleActivityTimeout = IdleActivityTimeoutPolicy()
    /// The maximum time for the broker's answer to a probe after a suspension or a network change, 3 s by default.
    var probeTimeout = Duration.seconds(3)
    /// The maximum time for an orderly close, 5 s by default. After it, the connection is dropped.
    var closeTimeout = Duration.seconds(5)
    /// The servers to which the client follows a redirect; the same host by default. The value is a result of
    /// ``RedirectPolicy/checked()``.
    var redirects = RedirectPolicy()
    /// The maximum number of redirects in a row, without a pause or a stable connection between them, 3 by default. It
    /// ends redirect loops between servers.
    var maximumRedirects = 3
}

extension SupervisorConfiguration {
    /// The scheme of a connection with these options; `nil` if the options do not determine it, because the
    /// configuration has TLS settings or streams of the app, or if they have a mistake.
    func scheme(of options: ConnectOptions) -> ConnectionScheme? {
        isTLSUpToOptions ? try? ConnectionScheme(options, hasTLSSettings: false) : nil
    }

    /// Whether a connection with these options uses plain TCP. Its port may need TLS.
    func isPlain(_ options: ConnectOptions) -> Bool {
        isTLSUpToOptions && (try? ConnectionScheme(options, hasTLSSettings: false)) == .tcp
    }

    /// The longest duration of a connection that may have been dropped because of another client with the same id.
    ///
    /// Two such clients take over each other's session in turns. A connection lasts as long as the other client pauses,
    /// and ``takeoverDropWindow`` is added for the way to the broker. A connection of `stableConnectionTime` resets the
    /// pauses of its client, so the other client's next connection is short. No pause is longer than the longest one.
    /// Drops after ``maximumTakeoverTurnWindow`` often have another cause, so slower takeovers are not recognized.
    var takeoverTurnWindow: Duration {
        let turn = max(reconnectInterval, min(stableConnectionTime, maximumReconnectInterval))
        return min(turn + takeoverDropWindow, maximumTakeoverTurnWindow)
    }
}
