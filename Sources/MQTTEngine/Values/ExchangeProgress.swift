public import MQTTCodec

/// A step in the delivery of a message. The form is compact, because these steps occur for every message.
///
/// Each step is also an ``EngineAction``.
public enum ExchangeProgress: Hashable, Sendable {
    /// An outgoing message was assigned a packet id. Its PUBLISH is written for the first time in this session.
    case sent(Token, PacketID)
    /// The server has received a QoS 2 message (PUBREC). The message must not be sent as PUBLISH again.
    case receivedByServer(Token)
    /// A QoS 2 message was given up, although the server may have received it. ``EngineAction/failed(_:_:)`` follows.
    /// The packet id is freed after the caller has stored this end. Reported only with
    /// ``EngineConfiguration/awaitsStorage``.
    case givenUp(Token, PacketID)
    /// The exchange of an outgoing message ended with an acknowledgement that has no properties. A failure code means
    /// that the server refused the message.
    case acknowledged(Token, PacketReasonCode)
    /// A received QoS 2 message is complete, or PUBREC refuses it. From now on, its packet id belongs to a new message.
    case incomingReleased(PacketID)
    /// A received QoS 2 message will never be complete. Its packet id belongs to the message that follows. Reported
    /// only with ``EngineConfiguration/awaitsStorage``.
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
