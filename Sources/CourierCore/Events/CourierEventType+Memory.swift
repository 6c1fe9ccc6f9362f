import Foundation

extension CourierEventType {
    /// The assumed size of an error with its texts, 1 KiB.
    static let errorByteCount = 1 << 10

    /// The approximate memory that the event holds, in bytes: topics, payloads and errors.
    package var heldByteCount: Int {
        switch self {
        case .messageSend(let topic, _, _), .messageReceive(let topic, _): topic.heldByteCount
        case .messageSendSuccess(let topic, _, _, let data): topic.heldByteCount + data.heldByteCount
        case .messageReceiveFailure(let topic, _, _), .messageSendFailure(let topic, _, _, _):
            topic.heldByteCount + Self.errorByteCount
        case .messageProcessingFailure(let topic, _, _, _), .messageParked(let topic, _, _):
            topic.heldByteCount + Self.errorByteCount
        case .processingPaused(let processor, let reason): processor.heldByteCount + reason.heldByteCount
        case .processingResumed(let processor): processor.heldByteCount
        case .messageRejected(let message, _): message.heldByteCount + Self.errorByteCount
        case .subscribeAttempt(let topics), .unsubscribeAttempt(let topics), .unsubscribeSuccess(let topics, _):
            Self.byteCount(of: topics)
        case .unsubscribeFailure(let topics, _, _): Self.byteCount(of: topics) + Self.errorByteCount
        case .subscribeSuccess(let topics, _): Self.byteCount(of: topics.map(\.topic))
        case .subscribeFailure(let topics, _, _): Self.byteCount(of: topics.map(\.topic)) + Self.errorByteCount
        case .connectDiscarded(let reason): reason.heldByteCount
        case .ping(let url): url.heldByteCount
        case .connectionServiceAuthFailure, .connectionFailure, .connectionLost, .pingFailure, .messageStoreFailure:
            Self.errorByteCount
        case .connectionServiceAuthStart, .connectionServiceAuthSuccess, .connectedPacketSent, .courierDisconnect,
            .connectionAttempt, .connectionSuccess, .connectionDisconnect, .reconnect, .pongReceived,
            .deliveryDowngraded, .eventsDropped, .appForeground, .appBackground, .connectionAvailable,
            .connectionUnavailable:
            0
        }
    }

    private static func byteCount(of topics: [String]) -> Int {
        topics.reduce(0) { $0 + MemoryLayout<String>.stride + $1.heldByteCount }
    }
}
