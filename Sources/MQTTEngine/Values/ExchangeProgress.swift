public import MQTTCodec

/// A step in the delivery of a message that comes with every message, and so costs next to nothing to tell.
///
/// Each is also an ``EngineAction``; see there.
public enum ExchangeProgress: Hashable, Sendable {
    /// An outgoing message has been given a packet id and is being written for the first time in this session.
    case sent(Token, PacketID)
    /// The server has a QoS 2 message (PUBREC) and it must not be sent as a PUBLISH again.
    case receivedByServer(Token)
    /// A QoS 2 message was given up that the server may have; its failure follows. Only with
    /// ``EngineConfiguration/awaitsStorage``: its packet id is freed once its end is stored.
    case givenUp(Token, PacketID)
    /// The exchange of an outgoing message has ended, by an acknowledgement without properties; a failure code means that
    /// the server refused it.
    case acknowledged(Token, PacketReasonCode)
    /// A QoS 2 message that was received is complete, or the server is told by PUBREC that it was refused: its packet id
    /// means a new message from now on.
    case incomingReleased(PacketID)
    /// A QoS 2 message that was received is not complete and never will be: its packet id means the message that follows.
    /// Only with ``EngineConfiguration/awaitsStorage``.
    case incomingReplaced(PacketID)
}

extension EngineAction {
    /// The same step as an action among all others.
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

    /// What a step of this kind is as progress, which all but the rare actions are.
    var progress: ExchangeProgress? {
        switch self {
        case .sent(let token, let id): .sent(token, id)
        case .receivedByServer(let token): .receivedByServer(token)
        case .givenUp(let token, let id): .givenUp(token, id)
        case .acknowledged(let token, let code, let properties) where properties.isEmpty: .acknowledged(token, code)
        case .incomingReleased(let id): .incomingReleased(id)
        case .incomingReplaced(let id): .incomingReplaced(id)
        case .connected, .message, .acknowledged, .qosDowngraded, .returned, .subscribed, .unsubscribed, .failed,
            .authenticationContinued, .authenticated, .pingSent, .pongReceived, .close:
            nil
        }
    }
}
