public import CourierCore

/// What a client and its broker agree on, beside what ``CourierCore/ConnectOptions`` say.
///
/// ```swift
/// config.session.expiry = .seconds(3_600)
/// ```
public struct SessionOptions {
    /// How long the broker keeps the session without a connection (MQTT 5, unless `isCleanSession`); 7 days by default.
    public var expiry = Duration.seconds(7 * 24 * 3_600)

    /// What happens to unacknowledged messages when the broker has lost the session; they are sent anew by default.
    public var lossPolicy = SessionLossPolicy.resend

    /// Gives up on an acknowledgement after this long and reconnects; 60 s by default, `nil` is never.
    public var acknowledgementTimeout: Duration? = .seconds(60)

    /// Whether the client ends a message at which the broker closes each connection; `true` by default.
    ///
    /// The client sends such a message alone. After three connections that ended right behind it, the message fails with
    /// `publishRefused`. The error's `rejectedMessage` and the event `messageRejected` carry the whole message, and a message
    /// store keeps it as rejected. If `false`, the client sends it again on each connection, and the messages behind it wait.
    public var rejectsHarmfulMessages = true

    /// What is asked of the broker with each subscription (MQTT 5); what MQTT 3.1.1 does by default.
    public var subscriptionOptions = SubscriptionOptions()

    /// How many topic aliases the broker may use in messages to this client (MQTT 5); 16 by default, 0 for none. The client
    /// remembers the topic of each alias, which may have 65,535 bytes.
    public var topicAliasMaximum: UInt16 = 16

    /// The alias that stands for a topic in the messages of this client (MQTT 5); none by default, and at most 100.
    ///
    /// The first message of a connection to such a topic has the topic and its alias, the next ones the alias alone. Topics
    /// that are not named here get aliases by themselves, as far as the broker allows. An alias from 1 to 65,535 that is
    /// larger than the broker's maximum is not used: the broker would end the connection for it [MQTT-3.3.2-9].
    public var topicAliases: [String: UInt16] = [:]

    /// How to find out how seldom this connection can be pinged, in the place of `ConnectOptions.keepAlive`; `nil`, the
    /// default, is not at all.
    public var adaptiveKeepAlive: AdaptiveKeepAlive?

    /// Whether the broker may explain refusals by reason strings and user properties (MQTT 5); `true` by default.
    public var requestsProblemInformation = true

    /// Whether the broker is asked for the beginning of response topics, which ``CourierCore/CourierSession/responseInformation``
    /// returns (MQTT 5); `false` by default. The broker need not send it.
    public var requestsResponseInformation = false

    /// Under which name the messages of this client are in the store, and found again by the next process; `nil`, the
    /// default, is the client id and broker of the first options that the provider returns.
    ///
    /// Name it yourself where messages are to be stored before the provider can answer, which may need a network, and
    /// where it may name another broker or a client id with `%` next time. The names need not be those of the provider; as
    /// long as they are, QoS 2 is exactly once across processes, and otherwise what was under way when a process ended is
    /// sent anew by the next one and may arrive twice. Clients that share a store must have a scope each.
    public var storeScope: StoreScope?

    /// The defaults.
    public init() {}
}
