public import MQTTCodec

/// A step in the delivery of a message. This type is compact, because these steps occur for every message.
///
/// Each step is also an ``EngineAction``.
public enum ExchangeProgress: Hashable, Sendable {
    /// An outgoing message was assigned a packet id. Its PUBLISH is written for the first time in this session.
    case sent(Token, PacketID)
    /// The server has received a QoS 2 message (PUBREC). The message must not be sent as PUBLISH again.
    case receivedByServer(Token)
    /// A QoS 2 message was given up, although the server may have received it. ``EngineAction/failed(_:_:)`` follows.
    /// The packet id is freed after the caller has stored that the message was given up. Reported only with
    /// ``EngineConfiguration/awaitsStorage``.
    case givenUp(Token, PacketID)
    /// The delivery of an outgoing message ended with an acknowledgement without properties. A failure code means that
    /// the server refused the message.
    case acknowledged(Token, PacketReasonCode)
    /// The delivery of a received QoS 2 message is complete, or PUBREC refused the message. The server may now use the
    /// packet id for a new message.
    case incomingReleased(PacketID)
    /// The delivery of a received QoS 2 message will never be completed, because the server lost the session. The
    /// packet id belongs to the next message. Reported only with ``EngineConfiguration/awaitsStorage``.
    case incomingReplaced(PacketID)
}

extension EngineAction {
    /// Converts a step to the action with the same meaning.
    public init(_ progress: ExchangeProgress) {
        self =
            switch progress {
            case .sent(let token, let id): .sent(token, id)
            case .receivedByServer(let token): .receivedByServer(token)
            case .givenUp(let token, let id): .givenUp(token, id)
            case .acknowledged(let token, let code): .acknowledged(token, code, [])
            case .incomingReleased(let id): .incomingReleased(id)
            case .incomingReplaced(let id): .incomingReplaced(id)
            }
    }

    /// The action as a progress step; `nil` for any other action.
    var progress: ExchangeProgress? {
        switch self {
        case .sent(let token, let id): .sent(token, id)
        case .receivedByServer(let token): .receivedByServer(token)
        case .givenUp(let token, let id): .givenUp(token, id)
        case .acknowledged(let token, let code, let properties) where properties.isEmpty: .acknowledged(token, code)
        case .incomingReleased(let id): .incomingReleased(id)
        case .incomingReplaced(let id): .incomingReplaced(id)
        case .connected, .message, .skipped, .acknowledged, .qosDowngraded, .returned, .subscribed, .unsubscribed,
            .failed, .authenticationContinued, .authenticated, .pingSent, .pongReceived, .close:
            nil
        }
    }
}
