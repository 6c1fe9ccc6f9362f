import CourierCore
import Foundation

/// What an event means for a full ``EventBuffer``.
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

    /// How many bytes of topics and payloads the event keeps in memory.
    var heldByteCount: Int {
        switch self {
        case .messageSend(let topic, _, _), .messageReceive(let topic, _), .messageReceiveFailure(let topic, _, _),
            .messageSendFailure(let topic, _, _, _):
            topic.utf8.count
        case .messageSendSuccess(let topic, _, _, let data): topic.utf8.count + data.count
        case .messageRejected(let message, _): message.topic.utf8.count + message.byteCount
        case .subscribeAttempt(let topics), .unsubscribeAttempt(let topics), .unsubscribeSuccess(let topics, _),
            .unsubscribeFailure(let topics, _, _):
            topics.reduce(0) { $0 + $1.utf8.count }
        case .subscribeSuccess(let topics, _), .subscribeFailure(let topics, _, _):
            topics.reduce(0) { $0 + $1.topic.utf8.count }
        case .connectDiscarded(let reason): reason.utf8.count
        case .ping(let url): url.utf8.count
        case .connectionServiceAuthStart, .connectionServiceAuthSuccess, .connectionServiceAuthFailure,
            .connectedPacketSent, .courierDisconnect, .connectionAttempt, .connectionSuccess, .connectionFailure,
            .connectionLost, .connectionDisconnect, .reconnect, .pongReceived, .pingFailure, .deliveryDowngraded,
            .messageStoreFailure, .eventsDropped, .appForeground, .appBackground, .connectionAvailable,
            .connectionUnavailable:
            0
        }
    }
}
