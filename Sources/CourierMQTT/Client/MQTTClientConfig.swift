public import CourierCore
public import CourierTransport
public import Foundation

/// The configuration of a client: credentials, protocol, limits, and the response to failures.
///
/// The initializers have parameters for the options that most apps set. The other properties have defaults that suit a
/// first use, and can be changed before the client is made.
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
/// A configuration is not `Sendable`, because its provider may not be `Sendable`. Make the configuration where you pass
/// it to the factory.
public struct MQTTClientConfig {
    /// The source of connect options.
    enum Provider {
        case closures(any IConnectionServiceProvider)
        case asynchronous(any ConnectionServiceProvider)
    }

    let provider: Provider

    // MARK: Options of the first initializer

    /// Topic filters to subscribe to on every connection; none by default, and at most 100,000. After the app
    /// unsubscribes from a filter, the client does not subscribe to this filter again until `destroy()`.
    public var topics: [String: QoS]
    /// The adapters that encode and decode messages, tried in this order; JSON, text and data by default.
    public var messageAdapters: [any MessageAdapter]
    /// Whether QoS 1 and 2 messages are stored in a file, so that they survive the end of the process; `false` by
    /// default.
    ///
    /// If the option is `true` and there is no ``messageStore``, the client keeps the messages in one file for the
    /// provider's client id. The file is in the folder `<parent>/<name of the program>`, and only this user can read
    /// it. The parent folder is the first absolute path of these: `$XDG_STATE_HOME`, the first folder of
    /// `$STATE_DIRECTORY`, and `~/.local/state`. ``SessionOptions/storeName`` replaces the name of the program.
    ///
    /// If the file cannot be opened, or if another client uses it, all calls fail: the client never falls back to
    /// memory. If there is a ``messageStore``, messages are stored there, and this option has no effect.
    public var isMessagePersistenceEnabled: Bool
    /// Seconds between the loss of a connection and the first attempt; 5 by default. Each further attempt doubles the
    /// time.
    ///
    /// Before MQTT 5, set at most 25 if the client must recognize another client with the same client id. The client
    /// recognizes it by connections that the broker drops again and again, each within 30 s after CONNACK. Such a
    /// connection lasts as long as the other client's pause, plus up to 5 s until the other client reaches the broker.
    /// If both clients have the same value here, their pauses are about as long as this value.
    public var autoReconnectInterval: UInt16
    /// The maximum number of seconds between two attempts; 10 by default.
    public var maxAutoReconnectInterval: UInt16
    /// Whether fetching credentials has a time limit; `false` by default.
    public var enableAuthenticationTimeout: Bool
    /// The maximum time for fetching credentials, in seconds; 30 by default. The value must be more than 0 if the time
    /// limit is on.
    public var authenticationTimeoutInterval: TimeInterval
    /// The rule for giving up on an attempt; disabled by default.
    public var connectTimeoutPolicy: ConnectTimeoutPolicy
    /// The rule for treating a silent connection as lost; disabled by default.
    public var idleActivityTimeoutPolicy: IdleActivityTimeoutPolicy
    /// The time for which received QoS 1 and 2 messages without a reader are kept for a later reader, in seconds. With
    /// 0, the default, such messages are not kept.
    ///
    /// With a message store, a later reader gets the stored messages once, in the order of their arrival. If stored
    /// messages expire before a reader takes them, the log reports their number. If a message waits for room in a full
    /// store and a reader starts, the reader gets the message. If a reader ends without reading kept messages, these
    /// messages keep their order and their remaining time.
    public var messagePersistenceTTLSeconds: TimeInterval
    /// Seconds between two removals of messages that were kept for `messagePersistenceTTLSeconds`; 10 by default.
    public var messageCleanupInterval: TimeInterval

    // MARK: The protocol

    /// The MQTT version to use. By default, version 5, or 3.1.1 if the broker does not support 5.
    public var protocolVersion = ProtocolVersionPolicy.preferVersion5
    /// Options of the session and its messages.
    public var session = SessionOptions()
    /// Limits on what the client sends, receives and keeps in memory.
    public var limits = ClientLimits()
    /// The message that the broker publishes if it loses the connection to this client; none by default. The broker
    /// does not publish it if the client disconnects by `disconnect()` or `destroy()`, or because the app enters the
    /// background.
    public var will: WillMessage?

    // MARK: Connecting to the broker

    /// The TLS settings. `nil`, the default, means the system's certificate authorities and all checks.
    ///
    /// If there are settings, options without a scheme use TLS on every port. Options with a scheme without TLS (`tcp`,
    /// `mqtt`, `ws`) are refused with `invalidConfiguration`, so that a provider cannot turn TLS off. For Unix sockets
    /// and the app's own streams, the settings must have a `serverName`.
    public var tls: TLSClientConfiguration?
    /// The proxy for connections to the broker; none by default. Unix sockets and the app's own streams use no proxy.
    /// If the proxy fails or refuses the connection, the attempt fails, and the client tries again after the usual
    /// pause.
    public var proxy = ProxySetting.direct
    /// Makes the stream to the broker, instead of a connection to the host and port of the options; `nil` by default.
    /// The closure is called for each attempt, on the event loop, and must not block. The returned stream is closed at
    /// the end of the attempt. Host, port, scheme and path of the options still identify the broker and its sessions.
    public var endpoint: (@Sendable (ConnectOptions) -> TransportEndpoint)?
    /// The rules for choosing among several endpoints of the broker, from `ConnectOptions.alternatives` or DNS service
    /// records.
    public var endpoints = EndpointPolicy()
    /// The time that a closing connection waits for the broker to close too, after all bytes were written. `nil`, the
    /// default, means ``CourierTransport/ChannelOptions/lingerTimeout``.
    package var peerCloseTimeout: Duration?
    /// The TLS contexts that this client shares with other clients of the same TLS settings. So the trusted
    /// certificates are in memory only once. With `nil`, the default, the client has its own contexts.
    package var tlsContexts: TLSContextCache?
    /// The maximum number of stored messages that stay in memory while they wait. Only tests change this value.
    package var storedMessagesInMemory = 8_192
    /// The environment variables that determine the file of ``isMessagePersistenceEnabled``; `nil` means the variables
    /// of the process. Only tests set this value.
    package var environmentVariables: [String: String]?
    /// The clock for the age of stored messages.
    package var storeClock = StoreClock()
    /// The resolver of DNS service records.
    var serviceRecords = ServiceRecords.system

    /// Further options for reconnecting, in addition to ``autoReconnectInterval`` and ``maxAutoReconnectInterval``.
    public var reconnect = ReconnectPolicy()

    // MARK: Messages

    /// Rules that choose an adapter by topic, for messages without a content type. The first matching rule is used. By
    /// default, there are no rules.
    public var adapterRules: [AdapterRule] = []
    /// Limits and rules for messages that wait for a connection.
    public var offline = OfflinePolicy()
    /// The store for messages of QoS 1 and 2, so that they survive the end of the process; `nil` by default. This store
    /// is used instead of the file of ``isMessagePersistenceEnabled``. Several clients may share one
    /// `SQLiteMessageStore`; ``SessionOptions/storeScope`` separates their messages.
    public var messageStore: (any MessageStore)?

    // MARK: Environment

    /// The serial queue on which the client calls sinks, event handlers and completions; the main queue by default. The
    /// client also calls a ``CourierCore/IConnectionServiceProvider`` on this queue. Your sinks, handlers and
    /// completions never run on the event loop, so a slow handler does not delay the network.
    public var deliveryQueue = DispatchQueue.main
    /// The network monitor, network interface, app lifecycle, tracing system and event loops that the client uses.
    public var environment = ClientEnvironment()
    /// The observer of every packet; `nil` by default.
    public var packetObserver: (any PacketObserver)?
    /// The log. By default, warnings and errors are written to standard error. With `nil`, the client logs nothing.
    public var logHandler: (any LogHandler)? = StandardErrorLog.standard

    /// Makes a configuration for a provider that passes its connect options to a completion closure.
    ///
    /// - Parameters:
    ///   - topics: Topic filters to subscribe to on every connection; none by default.
    ///   - authService: The source of connect options. The client keeps it alive, and calls it on the delivery queue.
    ///   - messageAdapters: The adapters, tried in this order; JSON, text and data by default.
    ///   - isMessagePersistenceEnabled: Whether QoS 1 and 2 messages survive the end of the process; `false` by
    ///     default.
    ///   - autoReconnectInterval: Seconds between the loss of a connection and the first attempt; 5 by default.
    ///   - maxAutoReconnectInterval: The maximum number of seconds between two attempts; 10 by default.
    ///   - enableAuthenticationTimeout: Whether fetching credentials has a time limit; `false` by default.
    ///   - authenticationTimeoutInterval: The maximum time for fetching credentials, in seconds; 30 by default.
    ///   - connectTimeoutPolicy: The rule for giving up on an attempt; disabled by default.
    ///   - idleActivityTimeoutPolicy: The rule for treating a silent connection as lost; disabled by default.
    ///   - messagePersistenceTTLSeconds: The time for which messages without a reader are kept, in seconds; 0 by
    ///     default.
    ///   - messageCleanupInterval: Seconds between two removals of expired kept messages; 10 by default.
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

    /// Makes a configuration for an `async` provider. The other options have their defaults, and can be set afterwards.
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

    /// Makes a configuration with fixed connect options. The other options have their defaults, and can be set
    /// afterwards.
    ///
    /// ``CourierClientFactory/validate(_:)`` also checks these options.
    ///
    /// - Parameter options: The address of the broker, and the client's credentials.
    public init(options: ConnectOptions) { self.init(provider: FixedOptions(options: options)) }

    /// The fixed connect options; `nil` if the app has set a provider.
    var fixedOptions: ConnectOptions? {
        switch provider {
        case .closures: nil
        case .asynchronous(let provider): (provider as? FixedOptions)?.options
        }
    }

    /// The client id and broker that the stored messages belong to. `nil` if they are not known before the provider
    /// returns options.
    var knownScope: StoreScope? {
        if let scope = session.storeScope { return scope }
        guard let options = fixedOptions, !options.clientId.utf8.contains(UInt8(ascii: "%")) else { return nil }
        return StoreScope(options)
    }

    /// The default adapters: JSON, text and data. All clients that use them share one encoder and decoder.
    public static let defaultAdapters: [any MessageAdapter] = [
        JSONMessageAdapter.standard, TextMessageAdapter(), DataMessageAdapter(),
    ]
}

/// The treatment of unacknowledged messages if the broker has lost the session.
public enum SessionLossPolicy: Hashable, Sendable {
    /// The messages are published again. A QoS 2 message that the broker received in the old session may then arrive
    /// twice. After PUBREC, a QoS 2 message fails with `connectionLost`: the client may have sent PUBREL, and MQTT does
    /// not allow a PUBLISH after that.
    case resend
    /// The messages fail with an error, and their callers may publish them again.
    case fail
    /// The messages are dropped, and an event reports this.
    case drop
}

/// A provider that always returns the same options.
private struct FixedOptions: ConnectionServiceProvider {
    let options: ConnectOptions

    var clientID: String { options.clientId }

    func connectOptions() async throws -> ConnectGrant { ConnectGrant(options) }
}
