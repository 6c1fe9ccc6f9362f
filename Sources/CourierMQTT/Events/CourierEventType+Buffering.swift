import CourierCore

/// The rule that decides whether a full ``EventBuffer`` drops an event.
extension CourierEventType {
    /// The condition under which a full buffer drops an event.
    enum DropRule {
        /// The event reports the progress of one message. The buffer drops the event when the buffer has reached a
        /// limit.
        case whenFull
        /// The event reports that a received message was not used. A broker can cause any number of these events, so a
        /// limit is necessary. The buffer drops the event when it has reached twice its limit of events or bytes.
        case whenTwiceFull
        /// The buffer always keeps the event.
        case never
    }

    var dropRule: DropRule {
        switch self {
        case .messageSend, .messageSendSuccess, .messageReceive: .whenFull
        case .messageReceiveFailure, .messageProcessingFailure: .whenTwiceFull
        case .connectionServiceAuthStart, .connectionServiceAuthSuccess, .connectionServiceAuthFailure,
            .connectedPacketSent, .courierDisconnect, .connectionAttempt, .connectionSuccess, .connectionFailure,
            .connectionLost, .connectionDisconnect, .reconnect, .connectDiscarded, .subscribeAttempt,
            .unsubscribeAttempt, .subscribeSuccess, .unsubscribeSuccess, .subscribeFailure, .unsubscribeFailure, .ping,
            .pongReceived, .pingFailure, .messageSendFailure, .deliveryDowngraded, .messageRejected,
            .messageParked, .processingPaused, .processingResumed, .messageStoreFailure, .eventsDropped, .appForeground,
            .appBackground, .connectionAvailable,
            .connectionUnavailable:
            .never
        }
    }
}
