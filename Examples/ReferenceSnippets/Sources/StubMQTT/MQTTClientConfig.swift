public import CourierCore
public import Foundation

/// Stands in for the configuration of `CourierMQTT`, with its labels and defaults.
///
/// It is not `Sendable`, as the provider need not be; it is made and handed to the factory in one place.
public struct MQTTClientConfig {
    /// Topic filters to subscribe to at every connect.
    public let topics: [String: QoS]
    /// The source of credentials.
    public let authService: any IConnectionServiceProvider
    /// The formats.
    public let messageAdapters: [any MessageAdapter]
    /// Whether QoS>0 messages survive the process.
    public let isMessagePersistenceEnabled: Bool
    /// Seconds until the first attempt after a loss; doubled each time.
    public let autoReconnectInterval: UInt16
    /// The most seconds between two attempts.
    public let maxAutoReconnectInterval: UInt16
    /// Whether asking for credentials is timed.
    public let enableAuthenticationTimeout: Bool
    /// Seconds that asking for credentials may take.
    public let authenticationTimeoutInterval: TimeInterval
    /// When to give up on an attempt.
    public let connectTimeoutPolicy: ConnectTimeoutPolicy
    /// When to treat silence as a loss.
    public let idleActivityTimeoutPolicy: IdleActivityTimeoutPolicy
    /// Seconds for which received messages without a reader are kept; 0 for not at all.
    public let messagePersistenceTTLSeconds: TimeInterval
    /// Seconds between two cleanings of the store.
    public let messageCleanupInterval: TimeInterval

    /// Collects the options.
    public init(
        topics: [String: QoS] = [:],
        authService: any IConnectionServiceProvider,
        messageAdapters: [any MessageAdapter] = [JSONMessageAdapter()],
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
        self.topics = topics
        self.authService = authService
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
}
