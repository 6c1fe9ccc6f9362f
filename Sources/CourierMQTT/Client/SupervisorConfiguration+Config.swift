import CourierCore
import Foundation

extension SupervisorConfiguration {
    /// Makes the supervisor's configuration from `config`. Values that `config` does not define have their defaults.
    ///
    /// - Throws: ``CourierError/Code/invalidConfiguration`` whose message names the option and the remedy.
    init(_ config: MQTTClientConfig) throws(CourierError) {
        guard config.autoReconnectInterval > 0, config.maxAutoReconnectInterval >= config.autoReconnectInterval else {
            throw CourierError(
                .invalidConfiguration,
                "autoReconnectInterval is \(config.autoReconnectInterval); "
                    + "the value must be at least 1, and at most maxAutoReconnectInterval, "
                    + "which is \(config.maxAutoReconnectInterval).")
        }
        self.init()
        reconnectInterval = .seconds(Int64(config.autoReconnectInterval))
        maximumReconnectInterval = .seconds(Int64(config.maxAutoReconnectInterval))
        jitter = config.reconnect.jitter
        try ClientSettings.checkTime(config.reconnect.stableConnectionTime, "reconnect.stableConnectionTime")
        stableConnectionTime = config.reconnect.stableConnectionTime
        whenRefused = config.reconnect.whenRefused
        let timeout = try Self.seconds(
            config.authenticationTimeoutInterval, "authenticationTimeoutInterval",
            isEnabled: config.enableAuthenticationTimeout)
        authenticationTimeout = config.enableAuthenticationTimeout ? timeout : nil
        areOptionsFixed = config.fixedOptions != nil
        isTLSUpToOptions = config.tls == nil && config.endpoint == nil
        connectTimeout = config.connectTimeoutPolicy
        idleActivityTimeout = config.idleActivityTimeoutPolicy
        try use(config.endpoints)
        redirects = try config.endpoints.redirects.checked()
        try Self.check(config.connectTimeoutPolicy)
        try Self.check(config.idleActivityTimeoutPolicy)
    }

    private static func check(_ policy: ConnectTimeoutPolicy) throws(CourierError) {
        _ = try seconds(policy.timeout, "connectTimeoutPolicy.timeout", isEnabled: policy.isEnabled)
        _ = try ClientSettings.seconds(policy.timerInterval, "connectTimeoutPolicy.timerInterval")
    }

    private static func check(_ policy: IdleActivityTimeoutPolicy) throws(CourierError) {
        _ = try seconds(
            policy.inactivityTimeout, "idleActivityTimeoutPolicy.inactivityTimeout", isEnabled: policy.isEnabled)
        _ = try seconds(policy.readTimeout, "idleActivityTimeoutPolicy.readTimeout", isEnabled: policy.isEnabled)
        _ = try ClientSettings.seconds(policy.timerInterval, "idleActivityTimeoutPolicy.timerInterval")
    }

    /// Converts an option in seconds. Throws an error if the option is enabled and its value is 0, because such a
    /// timeout would end every attempt at once.
    private static func seconds(
        _ seconds: TimeInterval, _ name: String, isEnabled: Bool
    ) throws(CourierError) -> Duration {
        let time = try ClientSettings.seconds(seconds, name)
        guard time > .zero || !isEnabled else {
            throw CourierError(
                .invalidConfiguration, "\(name) is \(seconds); it must be more than 0 if it is enabled.")
        }
        return time
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
            guard time > .zero, time <= ConnectionLimits.longestTimeout else {
                throw CourierError(
                    .invalidConfiguration,
                    "The time of endpoints.returnsToPreferred is \(time); "
                        + "the time must be more than 0 and at most \(ConnectionLimits.longestTimeout).")
            }
            returnInterval = time
        }
    }
}
