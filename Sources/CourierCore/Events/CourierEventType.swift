public import Foundation

/// The kind of a ``CourierEvent``, with its data.
///
/// The associated values `timeTaken`, `diffLastInbound` and `diffLastOutbound` are in milliseconds. `sizeBytes` is the
/// size of the payload. No event contains a password or a token.
public enum CourierEventType: Sendable {
    // MARK: Credentials

    /// The client asks the connection service provider for connect options.
    case connectionServiceAuthStart
    /// The connection service provider returned connect options.
    case connectionServiceAuthSuccess(timeTaken: Int)
    /// The connection service provider returned no connect options. The client asks again later.
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
    /// An attempt to connect failed. If the network changes during an attempt, the attempt may end with this event, and
    /// the next attempt follows.
    case connectionFailure(timeTaken: Int, error: (any Error)?)
    /// An established connection was lost. `diffLastInbound` is the time since bytes were last received, and
    /// `diffLastOutbound` is the time since bytes were last sent. If no bytes were received, `diffLastInbound` is
    /// `nil`. If no bytes were sent, `diffLastOutbound` is `nil`.
    case connectionLost(timeTaken: Int, error: (any Error)?, diffLastInbound: Int?, diffLastOutbound: Int?)
    /// The client closed the connection normally, with DISCONNECT. Every other end of a connection is reported as
    /// `connectionLost`.
    case connectionDisconnect
    /// The client begins another attempt, after a connection was lost or an attempt failed.
    case reconnect
    /// A call of `connect()` had no effect, for this reason.
    case connectDiscarded(reason: String)

    // MARK: Subscriptions

    /// The client sent SUBSCRIBE for the topic filters in `topics`.
    case subscribeAttempt(topics: [String])
    /// The client sent UNSUBSCRIBE for the topic filters in `topics`.
    case unsubscribeAttempt(topics: [String])
    /// The broker accepted the filters, with the quality of service it granted.
    case subscribeSuccess(topics: [(topic: String, qos: QoS)], timeTaken: Int)
    /// The broker confirmed the unsubscription from the filters.
    case unsubscribeSuccess(topics: [String], timeTaken: Int)
    /// The broker refused the filters, or sent no SUBACK. If there was no event `subscribeAttempt` before, no SUBSCRIBE
    /// was sent: the client refused the filters, or the broker's CONNACK does not allow them.
    case subscribeFailure(topics: [(topic: String, qos: QoS)], timeTaken: Int, error: (any Error)?)
    /// The broker refused to remove the filters, or sent no UNSUBACK. If there was no event `unsubscribeAttempt`
    /// before, no UNSUBSCRIBE was sent.
    case unsubscribeFailure(topics: [String], timeTaken: Int, error: (any Error)?)

    // MARK: Keep-alive

    /// PINGREQ was sent to this broker. If an earlier PINGREQ is still unanswered, the next PINGREQ causes no event.
    case ping(url: String)
    /// PINGRESP arrived.
    case pongReceived(timeTaken: Int)
    /// PINGRESP did not arrive in time. The event is also reported if the connection ends before PINGRESP arrives.
    case pingFailure(timeTaken: Int, error: (any Error)?)

    // MARK: Messages

    /// A message arrived.
    case messageReceive(topic: String, sizeBytes: Int)
    /// A received message was not used, for one of three reasons: a reader could not decode it or respond to it, it had
    /// no reader and was not kept, or its packet was too large. The event also reports a publisher with an invalid
    /// topic filter; `sizeBytes` is then 0. If nothing listens to events, the log warns about messages without a reader
    /// and about messages that were too large, at most once a minute.
    case messageReceiveFailure(topic: String, error: (any Error)?, sizeBytes: Int)
    /// The app publishes a message. The client sends it now, or when there is a connection. For a stored message of an
    /// earlier process, the event is reported when the client reads the message from the store.
    case messageSend(topic: String, qos: QoS, sizeBytes: Int)
    /// The broker acknowledged a message. At QoS 0, the event means only that the client accepted the message. The
    /// message may still wait for a connection. If the client drops the message later, no event reports the drop.
    case messageSendSuccess(topic: String, qos: QoS, sizeBytes: Int, data: Data)
    /// The delivery of a message failed: the broker refused the message, the client stopped sending it, or it has
    /// expired. At QoS 0, the event means that the client did not accept the message.
    case messageSendFailure(topic: String, qos: QoS, error: (any Error)?, sizeBytes: Int)

    /// The broker acknowledges sent messages as if they had a lower quality of service, so a message may reach
    /// subscribers more than once. The event is reported once for each connection.
    case deliveryDowngraded(from: QoS, to: QoS)
    /// The client stopped sending a message. The event carries the whole message, so that the app can save it. The
    /// event `messageSendFailure` for the message precedes this event.
    ///
    /// There are two possible reasons. The broker ended connections because of the message
    /// (`MQTTClientConfig.session.rejectsHarmfulMessages`). Or the text of a stored message is not allowed
    /// (`MQTTClientConfig.limits.textPolicy`); the message was then removed from the message store.
    case messageRejected(message: Message, error: any Error)
    /// The message store failed. New messages may be refused, and the client stores the progress of deliveries later.
    case messageStoreFailure(error: any Error)
    /// A handler of a processor failed. The next attempt begins after `pause`.
    case messageProcessingFailure(topic: String, attempt: Int, error: any Error, pause: Duration)
    /// A processor parked a message, because its last attempt failed, its handler asked for it, or no adapter could
    /// decode it.
    case messageParked(topic: String, attempts: Int, error: any Error)
    /// The processor with this name starts no more handlers, for this reason.
    case processingPaused(processor: String, reason: String)
    /// The processor with this name starts handlers again.
    case processingResumed(processor: String)
    /// `count` events were dropped before this event, because the delivery queue was slower than the client. Only
    /// `messageSend`, `messageSendSuccess`, `messageReceive` and `messageReceiveFailure` can be dropped. The file
    /// docs/reference/events.md describes the limits.
    case eventsDropped(count: Int)

    // MARK: App and network

    /// The app entered the foreground.
    case appForeground
    /// The app entered the background.
    case appBackground
    /// A network is available. After `connectionUnavailable`, this event is reported when the network monitor reports a
    /// network, the provider returns options, or the broker accepts the connection. When a client starts, it assumes
    /// that a network is available and that the app is in the foreground.
    case connectionAvailable
    /// No network is available.
    case connectionUnavailable
}
