import CourierCore
import CourierTransport
import Foundation
import MQTTEngine

/// The checked settings of a client, in the form that the client's parts need.
struct ClientSettings: Sendable {
    /// The minimum time between two searches for expired messages.
    static let expiryCheckInterval = Duration.milliseconds(500)

    let texts: WireText
    let rejectsHarmfulMessages: Bool
    let topics: [(filter: TopicFilter, qos: QoS)]
    let subscriptionOptions: SubscriptionOptions
    let registry: AdapterRegistry
    let timeToKeep: Duration
    let cleanupInterval: Duration
    let maximumKept: StoreSize
    let networkMonitor: (any NetworkMonitor)?
    let lifecycle: (any AppLifecycle)?
    let log: any LogHandler
    let observer: ClientObserver?
    let serviceRecords: ServiceRecords
    /// The TLS contexts that the client shares with other clients; `nil` if the client does not share contexts.
    let tlsContexts: TLSContextCache?
    /// The adaptive keep-alive; `nil` if it is off. Its closure ``AdaptiveKeepAlive/memoryChanged`` calls the app's
    /// closure on the delivery queue.
    @BoxedOptional var keepAlive: AdaptiveKeepAlive?
    /// The seed of the random numbers for reconnect pauses.
    let jitterSeed: UInt64
    private let connection: ConnectionSettings
    private let clientIDs: ClientIDSource
    private let endpoint: (@Sendable (ConnectOptions) -> TransportEndpoint)?

    /// Checks `config`, and copies its settings.
    ///
    /// - Throws: ``CourierError/Code/invalidConfiguration`` whose message names the option and the remedy.
    init(_ config: MQTTClientConfig) throws(CourierError) {
        let texts = WireText(policy: config.limits.textPolicy)
        self.texts = texts
        rejectsHarmfulMessages = config.session.rejectsHarmfulMessages
        topics = try Self.topics(config.topics, texts)
        try config.session.subscriptionOptions.check(texts)
        subscriptionOptions = config.session.subscriptionOptions
        registry = try AdapterRegistry(config.messageAdapters, rules: config.adapterRules)
        keepAlive = try Self.keepAlive(config)
        connection = Self.connection(config)
        try connection.check()
        try Self.check(config.offline)
        timeToKeep = try Self.seconds(config.messagePersistenceTTLSeconds, "messagePersistenceTTLSeconds")
        cleanupInterval = max(
            try Self.seconds(config.messageCleanupInterval, "messageCleanupInterval"), .milliseconds(100))
        maximumKept = StoreSize(
            rows: max(config.limits.maximumKeptMessages, 0), bytes: max(config.limits.maximumKeptBytes, 0))
        networkMonitor = config.environment.networkMonitor
        lifecycle = config.environment.lifecycle
        log = config.logHandler ?? SilentLog()
        observer = config.packetObserver.map { ClientObserver($0) }
        endpoint = config.endpoint
        serviceRecords = config.serviceRecords
        tlsContexts = config.tlsContexts
        var generator = SystemRandomNumberGenerator()
        jitterSeed = generator.next()
        clientIDs = ClientIDSource(using: &generator)
        if let options = config.fixedOptions { try check(options, config.endpoints) }
    }

    var pingTimeout: Duration { connection.limits.pingTimeout }

    var maximumPacketSize: Int { connection.limits.maximumPacketSize }

    /// True if the broker is on this machine, or if the app provides the stream to the broker.
    func isLocal(_ options: ConnectOptions) -> Bool {
        endpoint != nil || options.scheme?.lowercased() == "unix" || options.host.isLoopbackHost
    }

    /// Returns the provider's options. If their client id is a template, such as `myapp_%%%%`, replaces the template
    /// with a client id. The same template always gives the same id.
    ///
    /// If the template is illegal, the options are returned unchanged. ``plan(for:serverName:)`` then throws an error.
    func filled(_ grant: ConnectGrant) -> ConnectGrant {
        guard let clientID = try? clientIDs.clientID(from: grant.options.clientId, texts),
            clientID != grant.options.clientId
        else { return grant }
        return ConnectGrant(grant.options.withClientID(clientID), expiresAt: grant.expiresAt)
    }

    /// Plans a connection with these options. The caller must open or discard the plan's endpoint.
    ///
    /// The server's certificate must have the server name of the configuration. If the configuration sets no server
    /// name, the certificate must have the name `serverName`. If that is `nil`, the certificate must have the name of
    /// the host.
    func plan(for options: ConnectOptions, serverName: String? = nil) throws(CourierError) -> ConnectPlan {
        let endpoint = endpoint?(options)
        do throws(CourierError) {
            var plan = try ConnectPlan(options, connection, endpoint: endpoint)
            if let serverName, plan.tls?.serverName == nil { plan.tls?.serverName = serverName }
            return plan
        } catch {
            endpoint?.discard()
            throw error
        }
    }

    /// Returns the DNS service name of the broker in these options. Returns `nil` if service records cannot be used,
    /// for example because the host is an IP address.
    func service(for options: ConnectOptions) -> NamedService? {
        endpoint == nil ? NamedService(options, hasTLSSettings: connection.tls != nil) : nil
    }
}

extension ClientSettings {
    private static func topics(
        _ topics: [String: QoS], _ texts: WireText
    ) throws(CourierError) -> [(filter: TopicFilter, qos: QoS)] {
        let limit = SubscriptionLimits().maximumFilters
        guard topics.count <= limit else {
            throw CourierError(
                .invalidConfiguration,
                "The option `topics` has \(topics.count) topic filters; at most \(limit) are possible. "
                    + "Cover several filters with one wildcard filter.")
        }
        var checked: [(filter: TopicFilter, qos: QoS)] = []
        for (topic, qos) in topics.sorted(by: { $0.key < $1.key }) {
            do {
                let filter = try TopicFilter(topic)
                try texts.check(filter)
                checked.append((filter, qos))
            } catch {
                throw CourierError(option: "The option `topics`", error)
            }
        }
        return checked
    }

    private static func connection(_ config: MQTTClientConfig) -> ConnectionSettings {
        var settings = ConnectionSettings(limits(config))
        settings.version = config.protocolVersion
        settings.texts = WireText(policy: config.limits.textPolicy)
        settings.will = config.will
        settings.tls = config.tls
        settings.proxy = config.proxy
        if !config.session.topicAliases.isEmpty { settings.topicAliases = config.session.topicAliases }
        return settings
    }

    private static func limits(_ config: MQTTClientConfig) -> ConnectionLimits {
        var limits = ConnectionLimits()
        limits.sessionExpiry = config.session.expiry
        limits.acknowledgementTimeout = config.session.acknowledgementTimeout
        if let keepAlive = config.session.adaptiveKeepAlive {
            limits.keepAlive = KeepAliveBounds(keepAlive).announcedKeepAlive
            // Turn off TCP probes, because they would interrupt the silence that the adaptive keep-alive measures.
            limits.channel.keepAliveIdle = nil
        }
        limits.channel.peerCloseTimeout = config.peerCloseTimeout
        limits.channel.localBinding = config.environment.localBinding
        limits.receiveMaximum = config.limits.receiveMaximum
        limits.maximumPacketSize = config.limits.maximumPacketSize
        limits.incomingTopicAliases = config.session.topicAliasMaximum
        limits.requestsProblemInformation = config.session.requestsProblemInformation
        limits.requestsResponseInformation = config.session.requestsResponseInformation
        if let maximum = config.limits.maximumInFlight {
            limits.maximumInFlight = maximum
            limits.maximumInFlightBeforeVersion5 = maximum
        }
        if config.messageStore != nil {
            limits.awaitsStorage = true
            limits.acknowledgements = .onCommand
        }
        limits.sessionLossPolicy =
            switch config.session.lossPolicy {
            case .resend: .resend
            case .fail: .fail
            case .drop: .drop
            }
        return limits
    }

    /// Checks that fixed options can be used with at least one endpoint.
    private func check(_ options: ConnectOptions, _ policy: EndpointPolicy) throws(CourierError) {
        // If the app provides the streams, check only CONNECT. The app's closure may return an open stream, so only an
        // attempt may call the closure.
        guard endpoint == nil else { return try ConnectPlan.checkConnect(options, connection) }
        var options = options
        if policy.usesServiceRecords, options.port == 0, service(for: options) != nil {
            options.port = 1_883  // A placeholder, because the service records contain the real port.
        }
        var problem: CourierError?
        for endpoint in EndpointList(options, limit: policy.maximumCount).endpoints {
            do throws(CourierError) {
                _ = try plan(for: options.at(endpoint))
                return
            } catch {
                problem = problem ?? error
            }
        }
        if let problem { throw problem }
    }

    private static func check(_ policy: OfflinePolicy) throws(CourierError) {
        for (name, limit) in [("maximumCount", policy.maximumCount), ("maximumBytes", policy.maximumBytes)]
        where limit < 1 {
            throw CourierError(
                .invalidConfiguration,
                "offline.\(name) is \(limit); it must be at least 1. "
                    + "To publish without waiting for a connection, use QoS 0 and set offline.queuesQoS0 to false.")
        }
        guard policy.drainCount > 0 else {
            throw CourierError(
                .invalidConfiguration, "offline.drainCount is \(policy.drainCount); it must be at least 1.")
        }
        try checkTime(policy.drainInterval, "offline.drainInterval")
        if case .suspend(let timeout) = policy.overflow { try checkTime(timeout, "The timeout of offline.overflow") }
        guard let age = policy.maximumAge, age <= .zero else { return }
        throw CourierError(
            .invalidConfiguration, "offline.maximumAge is \(age); it must be more than 0, or nil for no limit.")
    }

    /// Checks that a time is not negative. A very long time counts as no limit.
    static func checkTime(_ time: Duration, _ name: String) throws(CourierError) {
        guard time < .zero else { return }
        throw CourierError(.invalidConfiguration, "\(name) is \(time); it must not be negative.")
    }

    private static func keepAlive(_ config: MQTTClientConfig) throws(CourierError) -> AdaptiveKeepAlive? {
        guard var keepAlive = config.session.adaptiveKeepAlive else { return nil }
        let bounds = KeepAliveBounds(keepAlive)
        try bounds.check()
        try bounds.check(config.idleActivityTimeoutPolicy)
        if let changed = keepAlive.memoryChanged {
            keepAlive.memoryChanged = { [queue = config.deliveryQueue] memory in queue.async { changed(memory) } }
        }
        return keepAlive
    }

    /// Converts an option in seconds. Throws if the value is negative or not less than a billion.
    static func seconds(_ seconds: TimeInterval, _ name: String) throws(CourierError) -> Duration {
        guard seconds.isFinite, seconds >= 0, seconds < 1e9 else {
            throw CourierError(
                .invalidConfiguration, "\(name) is \(seconds); it must be at least 0 and less than a billion seconds.")
        }
        return .seconds(seconds)
    }
}

/// A log handler that ignores every record.
private struct SilentLog: LogHandler {
    var minimumLevel: LogLevel { .error }
    func log(_ record: LogRecord) {}
}
