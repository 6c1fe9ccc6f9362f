import CourierCore

/// The times and limits of a ``ConnectionSupervisor``.
struct SupervisorConfiguration: Hashable, Sendable {
    // MARK: Back-off

    /// The pause after the first failure, 1 s by default; it doubles with each further one.
    var reconnectInterval = Duration.seconds(1)
    /// The longest pause between attempts, 30 s by default.
    var maximumReconnectInterval = Duration.seconds(30)
    /// The chance in the pauses; ``ReconnectJitter/equal`` by default.
    var jitter = ReconnectJitter.equal
    /// How long a connection has to last until the next loss counts as the first again, 10 s by default.
    var stableConnectionTime = Duration.seconds(10)
    /// The shortest time between two attempts outside the schedule, such as after a returning network, 5 s by default. So an
    /// unstable network does not cause a burst of attempts.
    var urgentAttemptSpacing = Duration.seconds(5)
    /// The pause between attempts while the monitor says that there is no network, 60 s by default: it may be wrong.
    var offlineRetryInterval = Duration.seconds(60)

    // MARK: Two clients with one id

    /// So many connections in a row that the broker dropped right after CONNACK mean, before MQTT 5, that another client
    /// uses the same id; 3 by default.
    var takeoverDropCount = 3
    /// The longest life of a connection that counts as dropped right after CONNACK, 5 s by default.
    var takeoverDropWindow = Duration.seconds(5)
    /// So many that it dropped within ``takeoverTurnWindow`` of CONNACK mean the same; 6 by default.
    var takeoverTurnCount = 6
    /// The maximum of ``takeoverTurnWindow``, 30 s by default, because proxies close idle connections after a minute.
    var maximumTakeoverTurnWindow = Duration.seconds(30)
    /// The pause after a session was taken over, 60 s by default; it doubles with each further time.
    var takeoverInterval = Duration.seconds(60)
    /// The longest pause after a session was taken over, 10 min by default, and how long a connection has to last until
    /// the first pause is short again.
    var maximumTakeoverInterval = Duration.seconds(600)

    // MARK: Several endpoints

    /// How many endpoints of a list are used, 16 by default; beyond it the least preferred are left out.
    var maximumEndpoints = EndpointPolicy.defaultMaximumCount
    /// Whether service records are looked for; `false` by default.
    var usesServiceRecords = false
    /// How long that look-up may take until the client continues without, 10 s by default.
    var serviceRecordTimeout = Duration.seconds(10)
    /// After how long a connection to a less preferred endpoint is given up for a preferred one; `nil`, the default, is
    /// never. The time doubles with each try in vain.
    var returnInterval: Duration?
    /// The longest time between two such tries, 1 h by default.
    var maximumReturnInterval = Duration.seconds(3_600)
    /// For how long a connection has to be quiet until it is given up for a preferred one, 1 s by default.
    var returnQuietTime = Duration.seconds(1)
    /// The longest wait for a quiet moment, 60 s by default.
    var returnPatience = Duration.seconds(60)

    // MARK: Credentials

    /// Gives up on the provider after this long; `nil`, the default, is never.
    var authenticationTimeout: Duration?
    /// How long before credentials end new ones are fetched, 30 s by default.
    var renewalMargin = Duration.seconds(30)
    /// The least time from CONNACK, or from the provider's last answer, to a renewal, 1 s by default: for credentials that
    /// hardly last longer. It is as short as the first pause after a failure, so that what lasts 2 s still works.
    var minimumRenewalInterval = Duration.seconds(1)
    /// The response to final failures.
    var whenRefused = ReconnectPolicy.RefusalResponse.keepTrying
    /// Whether the options never change, so that asking for others at once is in vain; `false` by default.
    var areOptionsFixed = false

    // MARK: One connection

    /// Whether the options alone say whether TLS is spoken: there are no TLS settings, and no byte streams of the app's
    /// own; `false` by default.
    var isTLSUpToOptions = false
    /// How long the provider or the broker may stay silent before the log warns; 4 s by default, `nil` for no warning.
    var slowAttemptTime: Duration? = .seconds(4)
    /// When an attempt without CONNACK is given up.
    var connectTimeout = ConnectTimeoutPolicy()
    /// When a silent connection is given up.
    var idleActivityTimeout = IdleActivityTimeoutPolicy()
    /// How long a broker may take to answer a probe after a suspend or a change of network, 3 s by default.
    var probeTimeout = Duration.seconds(3)
    /// How long an orderly close may take until the connection is dropped, 5 s by default.
    var closeTimeout = Duration.seconds(5)
    /// The servers to which the client follows a redirect; the same host by default. In the form that
    /// ``RedirectPolicy/checked()`` returns.
    var redirects = RedirectPolicy()
    /// The number of redirects that are followed in a row, without a pause or a stable connection between them, 3 by default. It
    /// ends loops between servers.
    var maximumRedirects = 3
}

extension SupervisorConfiguration {
    /// The scheme of a connection with these options; `nil` if the options do not determine it, because the configuration has TLS
    /// settings or streams of the app, or if they have a mistake.
    func scheme(of options: ConnectOptions) -> ConnectionScheme? {
        isTLSUpToOptions ? try? ConnectionScheme(options, hasTLSSettings: false) : nil
    }

    /// Whether a connection with these options uses plain TCP, to a port that may need TLS.
    func isPlain(_ options: ConnectOptions) -> Bool {
        isTLSUpToOptions && (try? ConnectionScheme(options, hasTLSSettings: false)) == .tcp
    }

    /// How long a connection lasts at most while two clients with these intervals throw each other out, and
    /// ``takeoverDropWindow`` more for the way to the broker.
    ///
    /// It lasts as long as the other one pauses. A client that it was stable for begins again with the first pause, so
    /// that the other's next connection is a short one; and no pause is longer than the longest. What drops connections
    /// later than ``maximumTakeoverTurnWindow`` is more often something else, so a slower fight is not recognised.
    var takeoverTurnWindow: Duration {
        let turn = max(reconnectInterval, min(stableConnectionTime, maximumReconnectInterval))
        return min(turn + takeoverDropWindow, maximumTakeoverTurnWindow)
    }
}
