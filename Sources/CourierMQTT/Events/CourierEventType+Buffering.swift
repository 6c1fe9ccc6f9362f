import CourierCore

/// The rule for an event in a full ``EventBuffer``.
extension CourierEventType {
    /// When a full buffer drops an event.
    enum DropRule {
        /// The event reports progress of one message, and a full buffer has no room for it.
        case whenFull
        /// The event reports that a received message was not used. A broker can cause any number of them, so the buffer
        /// drops them as well, but only at twice its limits.
        case whenTwiceFull
        /// The buffer keeps the event in any case.
        case never
    }

    var dropRule: DropRule {
        switch self {
        case .messageSend, .messageSendSuccess, .messageReceive: .whenFull
        case .messageReceiveFailure: .whenTwiceFull
        case .connectionServiceAuthStart, .connectionServiceAuthSuccess, .connectionServiceAuthFailure,
            .connectedPacketSent, .courierDisconnect, .connectionAttempt, .connectionSuccess, .connectionFailure,
            .connectionLost, .connectionDisconnect, .reconnect, .connectDiscarded, .subscribeAttempt,
            .unsubscribeAttempt, .subscribeSuccess, .unsubscribeSuccess, .subscribeFailure, .unsubscribeFailure, .ping,
            .pongReceived, .pingFailure, .messageSendFailure, .deliveryDowngraded, .messageRejected,
            .messageStoreFailure, .eventsDropped, .appForeground, .appBackground, .connectionAvailable,
            .connectionUnavailable:
            .never
        }
    }
}
