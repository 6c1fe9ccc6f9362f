public import CourierCore
public import CourierTransport
public import Foundation

/// Everything a client is made of: who it is, what it speaks, and what it does when things go wrong.
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
/// It is not `Sendable`, as the provider need not be; it is made and handed to the factory in one place.
public struct MQTTClientConfig {
    /// Where the options of a connection come from.
    enum Provider {
        case closures(any IConnectionServiceProvider)
        case asynchronous(any ConnectionServiceProvider)
    }

    let provider: Provider

    // MARK: The published options

    /// Topic filters to subscribe to with every connection; none by default, and at most 100,000. One that is
    /// unsubscribed is left out from then on, until `destroy()`.
    public var topics: [String: QoS]
    /// The formats of messages, asked in this order; JSON, text and data by default.
    public var messageAdapters: [any MessageAdapter]
    /// Whether messages of QoS 1 and 2 are to survive the process; `false` by default. They do when there is a
    /// ``messageStore``, with either value; a client that is asked to keep them and has none says so in its log.
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
    /// Seconds for which received messages of QoS 1 and 2 are kept that no reader wants; 0, the default, is not at all.
    public var messagePersistenceTTLSeconds: TimeInterval
    /// Seconds between two removals of kept messages whose time is over; 10 by default.
    public var messageCleanupInterval: TimeInterval

    // MARK: The protocol

    /// Which version of MQTT to speak; 5, or 3.1.1 with a broker that does not know it, by default.
    public var protocolVersion = ProtocolVersionPolicy.preferVersion5
    /// What the broker publishes when this client is lost; nothing by default. It is not published after `disconnect()` or
    /// `destroy()`, nor in the background, which end the connection in order.
    public var will: WillMessage?
    /// How long the broker keeps the session without a connection (MQTT 5, unless `isCleanSession`); 7 days by default.
    public var sessionExpiry = Duration.seconds(7 * 24 * 3_600)
    /// What happens to unacknowledged messages when the broker has lost the session; they are sent anew by default.
    public var sessionLossPolicy = SessionLossPolicy.resend
    /// What is asked of the broker with each subscription (MQTT 5); what MQTT 3.1.1 does by default.
    public var subscriptionOptions = SubscriptionOptions()
    /// How many messages the broker may send without an acknowledgement (MQTT 5); 65,535 by default.
    public var receiveMaximum = UInt16.max
    /// How many messages are sent without an acknowledgement; `nil`, the default, is 1,000 where MQTT 5 says that the
    /// broker allows as many, and 20 before MQTT 5, where no broker says and some end a connection that has more.
    public var maximumInFlight: Int?
    /// Which texts the client sends; by default those that every common broker accepts, ``TextPolicy/portable``. Any
    /// other topic, client id, user name or property is an error at the call.
    public var textPolicy = TextPolicy.portable
    /// The size of the largest packet that is read, in bytes; 16 MiB by default.
    public var maximumPacketSize = 16 << 20

    /// How many topic aliases the broker may use in messages to this client (MQTT 5); 16 by default, 0 for none. The client
    /// remembers the topic of each alias, which may have 65,535 bytes.
    public var topicAliasMaximum: UInt16 = 16
    /// The alias that stands for a topic in the messages of this client (MQTT 5); none by default, and at most 100.
    ///
    /// The first message of a connection to such a topic has the topic and its alias, the next ones the alias alone. Topics
    /// that are not named here get aliases by themselves, as far as the broker allows. An alias from 1 to 65,535 that is
    /// larger than the broker's maximum is not used: the broker would end the connection for it [MQTT-3.3.2-9].
    public var topicAliases: [String: UInt16] = [:]
    /// Whether the broker may explain refusals by reason strings and user properties (MQTT 5); `true` by default.
    public var requestsProblemInformation = true
    /// Whether the broker is asked for the beginning of response topics, which ``CourierCore/CourierSession/responseInformation``
    /// returns (MQTT 5); `false` by default. The broker need not send it.
    public var requestsResponseInformation = false

    // MARK: The way to the broker

    /// How to speak TLS; `nil` by default: with the system's authorities and all checks, where the options ask for TLS.
    ///
    /// What is set here also switches TLS on for options without a scheme, whatever their port. Options whose scheme is
    /// without TLS (`tcp`, `mqtt`, `ws`) are refused with `invalidConfiguration` then, so that a provider can not
    /// switch it off. Unix sockets and streams of the app's own need its `serverName`.
    public var tls: TLSClientConfiguration?
    /// The proxy that the broker is reached through; none by default. Unix sockets and streams of the app's own never
    /// go through one. A proxy that fails or refuses is a failed attempt, which is tried again after the usual pause.
    public var proxy = ProxySetting.direct
    /// The stream to the broker instead of the host and port of the options, made anew for each attempt; `nil` by
    /// default. Called on the event loop; it must not block. What it returns is closed with the attempt, however that
    /// ends. Host, port, scheme and path of the options tell one broker, and its sessions, from another all the same.
    public var endpoint: (@Sendable (ConnectOptions) -> TransportEndpoint)?
    /// How to deal with several ways to the broker, as `ConnectOptions.alternatives` or service records name them.
    public var endpoints = EndpointPolicy()
    /// The servers that the client may follow a server reference to. By default only the same host.
    public var redirects = RedirectPolicy()
    /// Whether the client ends a message at which the broker closes each connection; `true` by default.
    ///
    /// The client sends such a message alone. After three connections that ended right behind it, the message fails with
    /// `publishRefused`. The error's `rejectedMessage` and the event `messageRejected` carry the whole message, and a message
    /// store keeps it as rejected. If `false`, the client sends it again on each connection, and the messages behind it wait.
    public var rejectsHarmfulMessages = true
    /// How long the end of a connection waits for the broker to close too, once everything was written; `nil`, the default, is
    /// ``CourierTransport/ChannelOptions/lingerTimeout``.
    package var peerCloseTimeout: Duration?
    /// How many stored messages stay in memory while they wait. For tests.
    package var storedMessagesInMemory = 8_192
    /// By what stored messages age.
    package var storeClock = StoreClock()
    /// Who is asked for service records.
    var serviceRecords = ServiceRecords.system
    /// The event loops of this client; those that all clients of the process share by default. A group of one's own has the
    /// size of the read buffer and the priority of the thread that it is made with.
    ///
    /// Shut such a group down only after its clients have ended: after `disconnectAndWait()`, and when nobody holds
    /// them any more. Without its loop nothing of a client goes on, no timeout comes, and whoever still waits, for
    /// `connected()` or an answer, waits for ever.
    public var eventLoops: EventLoopGroup?

    // MARK: Time

    /// When the client connects again, beside ``autoReconnectInterval`` and ``maxAutoReconnectInterval``.
    public var reconnect = ReconnectPolicy()
    /// Gives up on an acknowledgement after this long and reconnects; 60 s by default, `nil` is never.
    public var acknowledgementTimeout: Duration? = .seconds(60)

    /// How to find out how seldom this connection can be pinged, in the place of `ConnectOptions.keepAlive`; `nil`, the
    /// default, is not at all.
    public var adaptiveKeepAlive: AdaptiveKeepAlive?

    // MARK: Messages

    /// Which content type belongs to which topics where MQTT does not say it; asked in order, none by default.
    public var adapterRules: [AdapterRule] = []
    /// What may wait for a connection.
    public var offline = OfflinePolicy()
    /// Where messages of QoS 1 and 2 survive the process, such as a `SQLiteMessageStore` of CourierSQLite; `nil`, the
    /// default, keeps them in memory. Several clients may share one; they are told apart by ``messageStoreScope``.
    public var messageStore: (any MessageStore)?
    /// Under which name the messages of this client are in the store, and found again by the next process; `nil`, the
    /// default, is the client id and broker of the first options that the provider returns.
    ///
    /// Name it yourself where messages are to be stored before the provider can answer, which may need a network, and
    /// where it may name another broker or a client id with `%` next time. The names need not be those of the provider; as
    /// long as they are, QoS 2 is exactly once across processes, and otherwise what was under way when a process ended is
    /// sent anew by the next one and may arrive twice. Clients that share a store must have a scope each.
    public var messageStoreScope: StoreScope?
    /// How many messages may be kept that no reader wants; 10,000 by default. One for which there is no room is
    /// acknowledged, and `messageReceiveFailure` tells of it.
    public var maximumKeptMessages = 10_000
    /// How many bytes of memory the messages may take that are kept without a message store, 16 MiB by default: topics,
    /// properties, payloads and what is known of each. With a store, whose own limit counts what is in it, reading pauses
    /// while as much is on its way into it.
    public var maximumKeptBytes = 16 << 20

    // MARK: The world around

    /// Where readers, events and the closures of this client are called, and the provider is asked; the main queue by
    /// default. It must be serial.
    public var deliveryQueue = DispatchQueue.main
    /// What tells whether there is a network; the system's by default.
    public var networkMonitor: (any NetworkMonitor)?
    /// What tells when the app is in the background; a program that always is in the foreground by default.
    public var lifecycle: (any AppLifecycle)?
    /// What sees every packet; nobody by default.
    public var packetObserver: (any PacketObserver)?
    /// Where the log goes. By default, warnings and errors go to standard error; `nil` silences the client.
    public var logHandler: (any LogHandler)? = StandardErrorLog.standard

    /// Collects the options for a provider that answers by closures.
    ///
    /// - Parameters:
    ///   - topics: Topic filters to subscribe to with every connection; none by default.
    ///   - authService: The source of connect options; kept alive by the client, and called on the delivery queue.
    ///   - messageAdapters: The formats, asked in this order; JSON, text and data by default.
    ///   - isMessagePersistenceEnabled: Has no effect but a warning in the log when there is no ``messageStore``; see the
    ///     property. `false` by default.
    ///   - autoReconnectInterval: Seconds until the first attempt after a loss; 5 by default.
    ///   - maxAutoReconnectInterval: The most seconds between two attempts; 10 by default.
    ///   - enableAuthenticationTimeout: Whether asking for credentials is timed; `false` by default.
    ///   - authenticationTimeoutInterval: Seconds that asking for credentials may take; 30 by default.
    ///   - connectTimeoutPolicy: When to give up on an attempt; disabled by default.
    ///   - idleActivityTimeoutPolicy: When to treat silence as a loss; disabled by default.
    ///   - messagePersistenceTTLSeconds: Seconds for which messages without a reader are kept; 0 by default.
    ///   - messageCleanupInterval: Seconds between two removals of those whose time is over; 10 by default.
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

    /// What the provider gives every time, if it does.
    var fixedOptions: ConnectOptions? {
        switch provider {
        case .closures: nil
        case .asynchronous(let provider): (provider as? FixedOptions)?.options
        }
    }

    /// Whose the stored messages are, if it is known before the provider has answered.
    var knownScope: StoreScope? {
        if let messageStoreScope { return messageStoreScope }
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
    /// They fail, and whoever sent them decides.
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
