import CourierCore

/// The times and limits of a ``ConnectionSupervisor``.
struct SupervisorConfiguration: Hashable, Sendable {
    // MARK: Pauses between attempts

    /// The pause after the first failure, 1 s by default. Each further failure doubles the pause.
    var reconnectInterval = Duration.seconds(1)
    /// The longest pause between attempts, 30 s by default.
    var maximumReconnectInterval = Duration.seconds(30)
    /// The random part of the pauses; ``ReconnectJitter/equal`` by default.
    var jitter = ReconnectJitter.equal
    /// The time after which a connection counts as stable; 10 s by default. After a stable connection, the pauses start
    /// again with the first pause.
    var stableConnectionTime = Duration.seconds(10)
    /// The shortest time between two attempts outside the schedule, 5 s by default. Such an attempt follows, for
    /// example, the return of the network. The limit prevents many attempts in a short time if the network is unstable.
    var urgentAttemptSpacing = Duration.seconds(5)
    /// The pause between attempts while the network monitor reports no network, 60 s by default. Attempts continue,
    /// because the monitor may be wrong.
    var offlineRetryInterval = Duration.seconds(60)

    // MARK: Another client with the same client id

    /// If this number of connections in a row is dropped right after CONNACK, the client assumes that another client
    /// uses the same id. 3 by default; used only before MQTT 5.
    var takeoverDropCount = 3
    /// The longest duration of a connection that counts as dropped right after CONNACK, 5 s by default.
    var takeoverDropWindow = Duration.seconds(5)
    /// If this number of connections in a row is dropped within ``takeoverTurnWindow``, the client assumes that another
    /// client uses the same id. 6 by default; used only before MQTT 5.
    var takeoverTurnCount = 6
    /// The maximum of ``takeoverTurnWindow``, 30 s by default. Proxies close idle connections after about a minute, and
    /// the end of such a connection must not count as a takeover.
    var maximumTakeoverTurnWindow = Duration.seconds(30)
    /// The pause after the first takeover of the session, 60 s by default. Each further takeover doubles the pause.
    var takeoverInterval = Duration.seconds(60)
    /// The longest pause after a takeover of the session, 10 min by default. After a connection that lasted longer than
    /// this time, the pauses start again with the first pause.
    var maximumTakeoverInterval = Duration.seconds(600)

    // MARK: Endpoints

    /// The maximum number of endpoints in a list, 16 by default. If a list has more endpoints, the least preferred
    /// endpoints are left out.
    var maximumEndpoints = EndpointPolicy.defaultMaximumCount
    /// True if DNS service records are looked up; `false` by default.
    var usesServiceRecords = false
    /// The maximum time for the look-up of DNS service records, 10 s by default. After this time, the client continues
    /// with the endpoints that it already knows.
    var serviceRecordTimeout = Duration.seconds(10)
    /// The time after which the client leaves a less preferred endpoint and tries a preferred one. `nil`, the default,
    /// means never. Each failed try doubles the time.
    var returnInterval: Duration?
    /// The longest time between two tries of a preferred endpoint, 1 h by default.
    var maximumReturnInterval = Duration.seconds(3_600)
    /// The time without traffic after which the client leaves a connection for a preferred endpoint, 1 s by default.
    var returnQuietTime = Duration.seconds(1)
    /// The longest time that the client waits for a moment without traffic before it returns to a preferred endpoint,
    /// 60 s by default. After this time, the client leaves the connection even if there is traffic.
    var returnPatience = Duration.seconds(60)

    // MARK: Credentials

    /// The maximum time until the provider returns options; `nil`, the default, means no limit.
    var authenticationTimeout: Duration?
    /// The time before their expiry at which the credentials are renewed, 30 s by default.
    var renewalMargin = Duration.seconds(30)
    /// The shortest time until a renewal of credentials begins; 1 s by default. The time is measured from CONNACK, or
    /// from the provider's last response during the connection. The limit prevents too many renewals if credentials
    /// have a very short lifetime.
    var minimumRenewalInterval = Duration.seconds(1)
    /// The response to final failures. By default, the client keeps trying.
    var whenRefused = ReconnectPolicy.RefusalResponse.keepTrying
    /// True if the options are fixed, so that the provider has no other options; `false` by default.
    var areOptionsFixed = false

    // MARK: Attempts and connections

    /// True if only the connect options decide about TLS, because the configuration has no TLS settings and the app
    /// provides no streams. `false` by default.
    var isTLSUpToOptions = false
    /// The time after which a warning about a silent provider or broker is logged; 4 s by default, `nil` for no
    /// warning.
    var slowAttemptTime: Duration? = .seconds(4)
    /// The rule for giving up an attempt without CONNACK.
    var connectTimeout = ConnectTimeoutPolicy()
    /// The rule for giving up a silent connection.
    var idleActivityTimeout = IdleActivityTimeoutPolicy()
    /// The maximum time for the broker's response to a PINGREQ after a suspension or a network change, 3 s by default.
    var probeTimeout = Duration.seconds(3)
    /// The maximum time for a close with DISCONNECT, 5 s by default. After this time, the connection is dropped.
    var closeTimeout = Duration.seconds(5)
    /// The servers to which the client follows a redirect; by default, the same host and the endpoints of the list. The
    /// policy has passed ``RedirectPolicy/checked()``.
    var redirects = RedirectPolicy()
    /// The maximum number of redirects in a row, without a pause or a stable connection between them, 3 by default. The
    /// limit ends a loop of servers that redirect to each other.
    var maximumRedirects = 3
}

extension SupervisorConfiguration {
    /// Returns the scheme of a connection with these options. Returns `nil` if the options contain a mistake. Also
    /// returns `nil` if the configuration has TLS settings or if the app provides the streams, because the options
    /// alone do not determine the scheme then.
    func scheme(of options: ConnectOptions) -> ConnectionScheme? {
        isTLSUpToOptions ? try? ConnectionScheme(options, hasTLSSettings: false) : nil
    }

    /// True if a connection with these options uses plain TCP. If such a connection fails, the port may need TLS.
    func isPlain(_ options: ConnectOptions) -> Bool {
        isTLSUpToOptions && (try? ConnectionScheme(options, hasTLSSettings: false)) == .tcp
    }

    /// The longest duration of a connection that may have been dropped because of another client with the same id.
    ///
    /// Two clients with the same id take over each other's session in turns. The connection of one client lasts until
    /// the pause of the other client has ended and the other client has reached the broker. So the longest duration is
    /// the longest possible pause plus ``takeoverDropWindow``.
    ///
    /// Two things limit the pause of the other client:
    ///
    /// - A pause is at most `maximumReconnectInterval`.
    /// - A pause becomes longer only after connections that were not stable. If this client pauses longer than
    ///   `stableConnectionTime`, the other client's connection becomes stable. Then the other client's next pause is
    ///   its first pause again.
    ///
    /// Drops after ``maximumTakeoverTurnWindow`` often have another cause. So the duration is at most this time, and
    /// slower takeovers are not recognized.
    var takeoverTurnWindow: Duration {
        let turn = max(reconnectInterval, min(stableConnectionTime, maximumReconnectInterval))
        return min(turn + takeoverDropWindow, maximumTakeoverTurnWindow)
    }
}
