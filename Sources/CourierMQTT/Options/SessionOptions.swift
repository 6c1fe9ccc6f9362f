public import CourierCore

/// Options of the session and its messages, in addition to ``CourierCore/ConnectOptions``.
///
/// ```swift
/// config.session.expiry = .seconds(3_600)
/// ```
public struct SessionOptions {
    /// How long the broker keeps the session while there is no connection; 7 days by default. Only MQTT 5 sends this
    /// value, and only if `isCleanSession` is false.
    public var expiry = Duration.seconds(7 * 24 * 3_600)

    /// The treatment of unacknowledged messages if the broker has lost the session; they are sent again by default.
    public var lossPolicy = SessionLossPolicy.resend

    /// How long the client waits for an acknowledgement before it reconnects; 60 s by default, `nil` for no limit.
    public var acknowledgementTimeout: Duration? = .seconds(60)

    /// Whether the client gives up a message if the broker closes each connection right after this message was sent;
    /// `true` by default.
    ///
    /// After the broker has closed the first connection in this way, the client sends messages one at a time. If three
    /// connections then end right after this message, the message fails with `publishRefused`. The error's
    /// `rejectedMessage` and the event `messageRejected` contain the whole message. A message store keeps the message
    /// and marks it as rejected.
    ///
    /// If the option is `false`, the client sends the message again on each connection, and all later messages wait.
    ///
    /// More details:
    ///
    /// - A QoS 0 message is never suspected, because the client never sends it again.
    /// - If a stored message ended connections of an earlier process, the first connection tests whether connections
    ///   also end without this message. So the client sends no QoS 1 and 2 messages during the first 10 s of this
    ///   connection.
    /// - The packet id of a rejected QoS 2 message is not used again until the session ends, not even by a later
    ///   process, because the broker may still use this id.
    /// - If a suspected message ended a connection, the client reconnects after the first pause. It does not count this
    ///   loss as a sign of another client with the same client id.
    public var rejectsHarmfulMessages = true

    /// The options of each subscription (MQTT 5). With the defaults, subscriptions work as in MQTT 3.1.1.
    public var subscriptionOptions = SubscriptionOptions()

    /// How many topic aliases the broker may use in messages to this client (MQTT 5); 16 by default, 0 for none. The
    /// client keeps the topic of each alias in memory, and a topic may have up to 65,535 bytes. So a large number can
    /// cost much memory.
    public var topicAliasMaximum: UInt16 = 16

    /// The aliases for topics of this client's messages (MQTT 5); empty by default, at most 100 topics.
    ///
    /// On each connection, the first message to such a topic has the topic and its alias, and later messages have only
    /// the alias. The client assigns aliases to other topics itself, up to the broker's maximum. An alias from 1 to
    /// 65,535 that is larger than the broker's maximum is not used, because the broker would end the connection
    /// [MQTT-3.3.2-9].
    public var topicAliases: [String: UInt16] = [:]

    /// Options to find the longest keep-alive that the network path allows. If set, they replace
    /// `ConnectOptions.keepAlive`. With `nil`, the default, `ConnectOptions.keepAlive` is used.
    public var adaptiveKeepAlive: AdaptiveKeepAlive?

    /// Whether the broker may send reason strings and user properties that explain its refusals (MQTT 5); `true` by
    /// default.
    public var requestsProblemInformation = true

    /// Whether the client asks the broker for a prefix of response topics (Response Information, MQTT 5); `false` by
    /// default. If the broker sends a prefix, ``CourierCore/CourierSession/responseInformation`` returns it.
    public var requestsResponseInformation = false

    /// Identifies this client's messages in the message store, so that the next process finds these messages. By
    /// default (`nil`), the scope is the client id and broker of the first options that the provider returns.
    ///
    /// Set a scope if messages must be stored before the provider returns options. Set a scope also if the provider may
    /// return another broker next time, or if it returns a client id with `%`. Each client that shares a store needs
    /// its own scope.
    public var storeScope: StoreScope?

    /// The name of the folder for the messages of this program. By default (`nil`), it is the name of the executable.
    /// The name is used if `isMessagePersistenceEnabled` is `true` and there is no `messageStore`.
    public var storeName: String?

    /// Makes options with the default values.
    public init() {}
}
