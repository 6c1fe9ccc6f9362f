public import CourierCore
public import CourierTransport
public import Foundation

/// The configuration of a client: credentials, protocol, limits, and the response to failures.
///
/// The initializers name what most apps set; the other properties have defaults that are right for a first use and can
/// be changed before the client is made.
///
/// ```swift
/// import CourierMQTT
/// import CourierTransport  // TLSClientConfiguration
///
/// var config = MQTTClientConfig(authService: authService, autoReconnectInterval: 1, maxAutoReconnectInterval: 30)
/// config.will = WillMessage(topic: "presence/7", text: "offline", qos: .one, isRetained: true)
/// config.tls = TLSClientConfiguration()
/// let client = CourierClientFactory().makeMQTTClient(config: config)
/// ```
///
/// It is not `Sendable`, because the provider need not be. Make it and pass it to the factory in one place.
public struct MQTTClientConfig {
    /// The source of connect options.
    enum Provider {
        case closures(any IConnectionServiceProvider)
        case asynchronous(any ConnectionServiceProvider)
    }

    let provider: Provider

    // MARK: The published options

    /// Topic filters to subscribe to on every connection; none by default, and at most 100,000. An unsubscribed filter is left
    /// out until `destroy()`.
    public var topics: [String: QoS]
    /// The formats of messages, asked in this order; JSON, text and data by default.
    public var messageAdapters: [any MessageAdapter]
    /// Whether messages of QoS 1 and 2 survive the process, also if it is killed; `false` by default.
    ///
    /// If `true` and there is no ``messageStore``, the client keeps them in a file of the provider's client id, in the folder
    /// `~/.local/state/<name of the program>`. The first absolute path of `$XDG_STATE_HOME`, `$STATE_DIRECTORY` and
    /// `$HOME/.local/state` counts, and ``SessionOptions/storeName`` replaces the name of the program. Only this user can read
    /// the file. If it cannot be opened, or another client has it, all calls fail: the client never keeps messages in memory
    /// instead. With a ``messageStore``, they survive with either value.
    public var isMessagePersistenceEnabled: Bool
    /// Seconds until the first attempt after a loss, doubled with each further one; 5 by default.
    public var autoReconnectInterval: UInt16
    /// The most seconds between two attempts; 10 by default.
    public var maxAutoReconnectInterval: UInt16
    /// Whether asking for credentials is timed; `false` by default.
    public var enableAuthenticationTimeout: Bool
    /// Seconds that asking for credentials may take, more than 0 where that is timed; 30 by default.
    public var authenticationTimeoutInterval: TimeInterval
    /// When to give up on an attempt; off by default.
    public var connectTimeoutPolicy: ConnectTimeoutPolicy
    /// When to treat silence as a loss; off by default.
    public var idleActivityTimeoutPolicy: IdleActivityTimeoutPolicy
    /// Seconds for which received messages of QoS 1 and 2 without a reader are kept; 0, the default, keeps none.
    public var messagePersistenceTTLSeconds: TimeInterval
    /// Seconds between two removals of kept messages whose time is over; 10 by default.
    public var messageCleanupInterval: TimeInterval

    // MARK: The protocol

    /// Which version of MQTT to speak; 5, or 3.1.1 with a broker that does not know it, by default.
    public var protocolVersion = ProtocolVersionPolicy.preferVersion5
    /// Options of the session and its messages.
    public var session = SessionOptions()
    /// Limits on what the client sends, receives and keeps in memory.
    public var limits = ClientLimits()
    /// The message that the broker publishes when this client is lost; none by default. It is not published after `disconnect()`,
    /// `destroy()` or in the background.
    public var will: WillMessage?

    // MARK: The way to the broker

    /// Settings of TLS; `nil` by default, which means the system's authorities and all checks.
    ///
    /// A value turns TLS on for options without a scheme, whatever their port. Options with a scheme without TLS (`tcp`, `mqtt`,
    /// `ws`) are then refused with `invalidConfiguration`, so that a provider cannot turn TLS off. Unix sockets and streams of
    /// the app need its `serverName`.
    public var tls: TLSClientConfiguration?
    /// The proxy that the broker is reached through; none by default. Unix sockets and streams of the app's own never
    /// go through one. A proxy that fails or refuses is a failed attempt, which is tried again after the usual pause.
    public var proxy = ProxySetting.direct
    /// The local address and network interface that connections leave this machine from; `nil`, the default, leaves both to the
    /// operating system. A missing address or interface is a failed attempt, which is tried again after the usual pause.
    public var localBinding: LocalBinding?
    /// The stream to the broker instead of the host and port of the options, made anew for each attempt; `nil` by default. Called
    /// on the event loop; it must not block. The returned stream is closed at the end of the attempt. Host, port, scheme and path
    /// of the options still identify the broker and its sessions.
    public var endpoint: (@Sendable (ConnectOptions) -> TransportEndpoint)?
    /// How to deal with several ways to the broker, as `ConnectOptions.alternatives` or service records name them.
    public var endpoints = EndpointPolicy()
    /// How long the end of a connection waits for the broker to close too, once everything was written; `nil`, the default, is
    /// ``CourierTransport/ChannelOptions/lingerTimeout``.
    package var peerCloseTimeout: Duration?
    /// How many stored messages stay in memory while they wait. For tests.
    package var storedMessagesInMemory = 8_192
    /// The variables that say where the file of ``isMessagePersistenceEnabled`` is; `nil` for those of the process. For tests.
    package var environmentVariables: [String: String]?
    /// By what stored messages age.
    package var storeClock = StoreClock()
    /// The resolver of service records.
    var serviceRecords = ServiceRecords.system

    /// When the client reconnects, in addition to ``autoReconnectInterval`` and ``maxAutoReconnectInterval``.
    public var reconnect = ReconnectPolicy()

    // MARK: Messages

    /// Which content type belongs to which topics where MQTT does not say it; asked in order, none by default.
    public var adapterRules: [AdapterRule] = []
    /// Limits and rules for waiting messages.
    public var offline = OfflinePolicy()
    /// The store in which messages of QoS 1 and 2 survive the process, instead of the file of ``isMessagePersistenceEnabled``;
    /// `nil` by default. Several clients may share one `SQLiteMessageStore`; ``SessionOptions/storeScope`` separates them.
    public var messageStore: (any MessageStore)?

    // MARK: The world around

    /// Where readers, events and the closures of this client are called, and the provider is asked; the main queue by
    /// default. It must be serial.
    public var deliveryQueue = DispatchQueue.main
    /// The network monitor, the app's lifecycle and the event loops.
    public var environment = ClientEnvironment()
    /// The observer of every packet; `nil` by default.
    public var packetObserver: (any PacketObserver)?
    /// The log. By default, warnings and errors go to standard error; `nil` silences the client.
    public var logHandler: (any LogHandler)? = StandardErrorLog.standard

    /// Makes a configuration for a provider with closures.
    ///
    /// - Parameters:
    ///   - topics: Topic filters to subscribe to with every connection; none by default.
    ///   - authService: The source of connect options; kept alive by the client, and called on the delivery queue.
    ///   - messageAdapters: The formats, asked in this order; JSON, text and data by default.
    ///   - isMessagePersistenceEnabled: Whether messages of QoS 1 and 2 survive the process; `false` by default.
    ///   - autoReconnectInterval: Seconds until the first attempt after a loss; 5 by default.
    ///   - maxAutoReconnectInterval: The most seconds between two attempts; 10 by default.
    ///   - enableAuthenticationTimeout: Whether asking for credentials is timed; `false` by default.
    ///   - authenticationTimeoutInterval: Seconds that asking for credentials may take; 30 by default.
    ///   - connectTimeoutPolicy: When to give up on an attempt; disabled by default.
    ///   - idleActivityTimeoutPolicy: When to treat silence as a loss; disabled by default.
    ///   - messagePersistenceTTLSeconds: Seconds for which messages without a reader are kept; 0 by default.
    ///   - messageCleanupInterval: Seconds between two removals of kept messages whose time is over; 10 by default.
    public init(
        topics: [String: QoS] = [:],
        authService: any IConnectionServiceProvider,
        messageAdapters: [any MessageAdapter] = MQTTClientConfig.defaultAdapters,
        isMessagePersistenceEnabled: Bool = false,
        autoReconnectInterval: UInt16 = 5,
        maxAutoReconnectInterval: UInt16 = 10,
        enableAuthenticationTimeout: Bool = false,
        authenticationTimeoutInterval: TimeInterval = 30,
        connectTimeoutPolicy: ConnectTimeoutPolicy = ConnectTimeoutPolicy(),
        idleActivityTimeoutPolicy: IdleActivityTimeoutPolicy = IdleActivityTimeoutPolicy(),
        messagePersistenceTTLSeconds: TimeInterval = 0,
        messageCleanupInterval: TimeInterval = 10
    ) {
        self.provider = .closures(authService)
        self.topics = topics
        self.messageAdapters = messageAdapters
        self.isMessagePersistenceEnabled = isMessagePersistenceEnabled
        self.autoReconnectInterval = autoReconnectInterval
        self.maxAutoReconnectInterval = maxAutoReconnectInterval
        self.enableAuthenticationTimeout = enableAuthenticationTimeout
        self.authenticationTimeoutInterval = authenticationTimeoutInterval
        self.connectTimeoutPolicy = connectTimeoutPolicy
        self.idleActivityTimeoutPolicy = idleActivityTimeoutPolicy
        self.messagePersistenceTTLSeconds = messagePersistenceTTLSeconds
        self.messageCleanupInterval = messageCleanupInterval
    }

    /// Collects the options for a provider that is `async`; the other options have their defaults and can be set
    /// afterwards.
    ///
    /// - Parameter provider: The source of connect options.
    public init(provider: any ConnectionServiceProvider) {
        self.provider = .asynchronous(provider)
        topics = [:]
        messageAdapters = Self.defaultAdapters
        isMessagePersistenceEnabled = false
        autoReconnectInterval = 5
        maxAutoReconnectInterval = 10
        enableAuthenticationTimeout = false
        authenticationTimeoutInterval = 30
        connectTimeoutPolicy = ConnectTimeoutPolicy()
        idleActivityTimeoutPolicy = IdleActivityTimeoutPolicy()
        messagePersistenceTTLSeconds = 0
        messageCleanupInterval = 10
    }

    /// Collects the options for a broker that is always the same; the other options have their defaults and can be set
    /// afterwards.
    ///
    /// A mistake in these options is one of the configuration, which ``CourierClientFactory/validate(_:)`` throws.
    ///
    /// - Parameter options: Where and as whom to connect.
    public init(options: ConnectOptions) { self.init(provider: FixedOptions(options: options)) }

    /// The provider's options, if they never change.
    var fixedOptions: ConnectOptions? {
        switch provider {
        case .closures: nil
        case .asynchronous(let provider): (provider as? FixedOptions)?.options
        }
    }

    /// Whose the stored messages are, if it is known before the provider has answered.
    var knownScope: StoreScope? {
        if let scope = session.storeScope { return scope }
        guard let options = fixedOptions, !options.clientId.utf8.contains(UInt8(ascii: "%")) else { return nil }
        return StoreScope(options)
    }

    /// JSON, text and bytes: the adapters of a client that names none. All such clients share their coders.
    public static let defaultAdapters: [any MessageAdapter] = [
        JSONMessageAdapter.standard, TextMessageAdapter(), DataMessageAdapter(),
    ]
}

/// What happens to unacknowledged messages when the broker has lost the session.
public enum SessionLossPolicy: Hashable, Sendable {
    /// They are published anew. A message of QoS 2 that the old session had may then arrive twice; one whose delivery
    /// was past that point fails with `connectionLost`.
    case resend
    /// They fail, and their callers decide.
    case fail
    /// They are given up, which an event reports.
    case drop
}

/// Gives the same options every time.
private struct FixedOptions: ConnectionServiceProvider {
    let options: ConnectOptions

    var clientID: String { options.clientId }

    func connectOptions() async throws -> ConnectGrant { ConnectGrant(options) }
}
