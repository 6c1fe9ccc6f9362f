public import Foundation

/// What a ``CourierEvent`` reports.
///
/// `timeTaken`, `diffLastInbound` and `diffLastOutbound` are in milliseconds. `sizeBytes` is the size of the payload.
/// No event contains a password or a token.
public enum CourierEventType: Sendable {
    // MARK: Credentials

    /// The provider is asked for options.
    case connectionServiceAuthStart
    /// The provider returned options.
    case connectionServiceAuthSuccess(timeTaken: Int)
    /// The provider failed to return options. The client asks again later.
    case connectionServiceAuthFailure(timeTaken: Int, error: (any Error)?)

    // MARK: Connection

    /// CONNECT was written to the transport.
    case connectedPacketSent
    /// The app ended the connection; `clearState` is `true` for `destroy()`.
    case courierDisconnect(clearState: Bool)
    /// A connection is being opened.
    case connectionAttempt
    /// The broker accepted the connection.
    case connectionSuccess(timeTaken: Int)
    /// An attempt to connect failed.
    case connectionFailure(timeTaken: Int, error: (any Error)?)
    /// An established connection was lost. The last two values are the times since bytes were last received and sent.
    case connectionLost(timeTaken: Int, error: (any Error)?, diffLastInbound: Int?, diffLastOutbound: Int?)
    /// The connection was closed in order.
    case connectionDisconnect
    /// Another attempt begins after a loss or a failure.
    case reconnect
    /// A call of `connect()` had no effect, for this reason.
    case connectDiscarded(reason: String)

    // MARK: Subscriptions

    /// SUBSCRIBE for these filters was sent.
    case subscribeAttempt(topics: [String])
    /// UNSUBSCRIBE for these filters was sent.
    case unsubscribeAttempt(topics: [String])
    /// The broker accepted the filters, with the quality of service it granted.
    case subscribeSuccess(topics: [(topic: String, qos: QoS)], timeTaken: Int)
    /// The broker removed the filters.
    case unsubscribeSuccess(topics: [String], timeTaken: Int)
    /// The broker refused the filters, or did not answer. Without an earlier `subscribeAttempt`, no SUBSCRIBE was sent:
    /// the client refused the filters, or the broker's CONNACK does not allow them.
    case subscribeFailure(topics: [(topic: String, qos: QoS)], timeTaken: Int, error: (any Error)?)
    /// The broker did not remove the filters, or did not answer. Without an earlier `unsubscribeAttempt`, no
    /// UNSUBSCRIBE was sent.
    case unsubscribeFailure(topics: [String], timeTaken: Int, error: (any Error)?)

    // MARK: Keep-alive

    /// PINGREQ was sent to this broker.
    case ping(url: String)
    /// PINGRESP arrived.
    case pongReceived(timeTaken: Int)
    /// PINGRESP did not arrive in time.
    case pingFailure(timeTaken: Int, error: (any Error)?)

    // MARK: Messages

    /// A message arrived.
    case messageReceive(topic: String, sizeBytes: Int)
    /// A message arrived that no reader could decode, respond to or keep.
    case messageReceiveFailure(topic: String, error: (any Error)?, sizeBytes: Int)
    /// The app publishes a message. The client sends it now, or when there is a connection.
    case messageSend(topic: String, qos: QoS, sizeBytes: Int)
    /// A message was acknowledged or, at QoS 0, accepted by the client. A message of QoS 0 may still wait for a
    /// connection, and no event reports if it is dropped later.
    case messageSendSuccess(topic: String, qos: QoS, sizeBytes: Int, data: Data)
    /// A message was refused, expired or abandoned; at QoS 0, the client did not accept it.
    case messageSendFailure(topic: String, qos: QoS, error: (any Error)?, sizeBytes: Int)

    /// The broker acknowledges messages as if they had a lower quality of service, so they may arrive more than once.
    /// Reported once for each connection.
    case deliveryDowngraded(from: QoS, to: QoS)
    /// The client abandoned a message and does not send it again. The event carries the whole message, so that the app
    /// can save it. It follows `messageSendFailure`.
    ///
    /// Either the broker ended connections because of the message (`MQTTClientConfig.session.rejectsHarmfulMessages`),
    /// or a stored message has text that the client does not send (`MQTTClientConfig.limits.textPolicy`) and left the
    /// message store.
    case messageRejected(message: Message, error: any Error)
    /// The message store failed: new messages may be refused, and the progress of deliveries is stored later.
    case messageStoreFailure(error: any Error)
    /// The delivery queue was slower than the client, and this many events are missing here. Only `messageSend`,
    /// `messageSendSuccess`, `messageReceive` and `messageReceiveFailure` can be dropped; docs/reference/events.md has
    /// the limits.
    case eventsDropped(count: Int)

    // MARK: App and network

    /// The app entered the foreground.
    case appForeground
    /// The app entered the background.
    case appBackground
    /// A network is available.
    case connectionAvailable
    /// No network is available.
    case connectionUnavailable
}
