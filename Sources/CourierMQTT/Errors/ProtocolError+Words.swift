import MQTTEngine

extension ProtocolError {
    /// A description of the broker's protocol violation, as the end of a sentence.
    var words: String {
        switch self {
        case .packetBeforeConnAck(let type): "the broker sent \(type) before CONNACK"
        case .unexpectedPacket(let type): "the broker sent \(type) to an established connection"
        case .sessionAfterCleanStart: "the broker reports an old session, although CONNECT asked for a clean session"
        case .clientIDAssigned: "the broker assigned a client id, although the client had sent its own"
        case .maximumPacketSizeTooSmall(let size):
            "the broker accepts packets of at most \(size) bytes, but an acknowledgement has 4 bytes"
        case .receiveMaximumExceeded: "the broker sent more unacknowledged messages than the receive maximum allows"
        case .topicAliasTooHigh(let alias): "the broker used topic alias \(alias), which is above the maximum"
        case .unknownTopicAlias(let alias): "the broker used topic alias \(alias) without a topic"
        case .wrongResultCount(let type, let expected, let actual):
            "the broker's \(type) has \(actual) results for \(expected) topic filters"
        case .unexpectedAuthentication: "the broker sent AUTH, although no authentication method was named"
        case .wrongAuthenticationMethod: "the broker sent AUTH with another authentication method than CONNECT"
        case .wrongAcknowledgement(let type, let id):
            "the broker sent \(type) for packet id \(id), but another type of acknowledgement is required"
        case .answersUnread(let count): "the broker sends packets but does not read, and \(count) bytes wait to be sent"
        }
    }
}
