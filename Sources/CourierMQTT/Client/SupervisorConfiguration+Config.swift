import CourierCore

extension SupervisorConfiguration {
    /// Takes over what `config` says of it; the rest is as it is by default.
    ///
    /// - Throws: ``CourierError/Code/invalidConfiguration`` that names the option and the remedy.
    init(_ config: MQTTClientConfig) throws(CourierError) {
        guard config.autoReconnectInterval > 0, config.maxAutoReconnectInterval >= config.autoReconnectInterval else {
            throw CourierError(
                .invalidConfiguration,
                "autoReconnectInterval is \(config.autoReconnectInterval) and maxAutoReconnectInterval is "
                    + "\(config.maxAutoReconnectInterval); the first must be at least 1 and not above the second.")
        }
        self.init()
        reconnectInterval = .seconds(Int64(config.autoReconnectInterval))
        maximumReconnectInterval = .seconds(Int64(config.maxAutoReconnectInterval))
        jitter = config.reconnectJitter
        try ClientSettings.checkTime(config.stableConnectionTime, "stableConnectionTime")
        stableConnectionTime = config.stableConnectionTime
        let timeout = try ClientSettings.seconds(config.authenticationTimeoutInterval, "authenticationTimeoutInterval")
        authenticationTimeout = config.enableAuthenticationTimeout ? timeout : nil
        areOptionsFixed = config.fixedOptions != nil
        connectTimeout = config.connectTimeoutPolicy
        idleActivityTimeout = config.idleActivityTimeoutPolicy
        try use(config.endpoints)
        for (time, name) in [
            (config.connectTimeoutPolicy.timeout, "connectTimeoutPolicy.timeout"),
            (config.connectTimeoutPolicy.timerInterval, "connectTimeoutPolicy.timerInterval"),
            (config.idleActivityTimeoutPolicy.inactivityTimeout, "idleActivityTimeoutPolicy.inactivityTimeout"),
            (config.idleActivityTimeoutPolicy.readTimeout, "idleActivityTimeoutPolicy.readTimeout"),
            (config.idleActivityTimeoutPolicy.timerInterval, "idleActivityTimeoutPolicy.timerInterval"),
        ] {
            _ = try ClientSettings.seconds(time, name)
        }
    }

    private mutating func use(_ policy: EndpointPolicy) throws(CourierError) {
        guard policy.maximumCount > 0 else {
            throw CourierError(
                .invalidConfiguration,
                "endpoints.maximumCount is \(policy.maximumCount); it must be at least 1.")
        }
        maximumEndpoints = policy.maximumCount
        usesServiceRecords = policy.usesServiceRecords
        switch policy.returnsToPreferred {
        case .never: break
        case .after(let time):
            guard time > .zero, time <= ConnectionSettings.longestTimeout else {
                throw CourierError(
                    .invalidConfiguration,
                    "endpoints.returnsToPreferred is after \(time); it must be more than 0 and at most "
                        + "\(ConnectionSettings.longestTimeout).")
            }
            returnInterval = time
        }
    }
}
