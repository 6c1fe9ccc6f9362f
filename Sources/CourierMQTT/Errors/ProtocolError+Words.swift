import MQTTEngine

extension ProtocolError {
    /// A description of the broker's protocol violation, as the end of a sentence.
    var words: String {
        switch self {
        case .packetBeforeConnAck(let type): "it sent \(type) before CONNACK"
        case .unexpectedPacket(let type): "it sent \(type) to an established connection"
        case .sessionAfterCleanStart: "it claims a session although CONNECT asked for a clean session"
        case .clientIDAssigned: "it assigned a client id although the client had sent its own"
        case .maximumPacketSizeTooSmall(let size):
            "it accepts packets of at most \(size) bytes, but an acknowledgement has 4 bytes"
        case .receiveMaximumExceeded: "it sent more unacknowledged messages than the receive maximum allows"
        case .topicAliasTooHigh(let alias): "it used topic alias \(alias), which is above the maximum"
        case .unknownTopicAlias(let alias): "it used topic alias \(alias) without a topic"
        case .wrongResultCount(let type, let expected, let actual):
            "its \(type) has \(actual) results for \(expected) topic filters"
        case .unexpectedAuthentication: "it sent AUTH although no authentication method was named"
        case .wrongAuthenticationMethod: "it sent AUTH with another authentication method than CONNECT named"
        case .wrongAcknowledgement(let type, let id): "it sent \(type) for packet \(id), which needs another answer"
        case .answersUnread(let count): "it sends packets but does not read, and \(count) bytes wait for it"
        }
    }
}
