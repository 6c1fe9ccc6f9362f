public import MQTTCodec

/// The reason why a ``BrokerMachine`` closes a connection.
public enum BrokerCloseReason: Hashable, Sendable {
    /// The broker refused the CONNECT with this code.
    case refused(PacketReasonCode)
    /// The client sent DISCONNECT with this code.
    case disconnected(PacketReasonCode)
    /// The client violated the protocol or exceeded a limit. If it uses MQTT 5, it receives this code.
    case protocolViolation(PacketReasonCode)
    /// The client sent bytes that are not a valid packet.
    case malformed(DecodeError)
    /// Another connection has taken over the session.
    case takenOver
    /// The client did not send CONNECT in time.
    case connectTimeout
    /// The client sent nothing for one and a half times the keep-alive interval.
    case keepAliveTimeout
    /// The maximum number of open connections was reached.
    case tooManyConnections
    /// A packet other than PUBLISH exceeds the maximum packet size that the client accepts.
    case answerTooLarge
    /// The operator closed the connection.
    case administrative(PacketReasonCode)

    /// The reason code of the DISCONNECT to send; `nil` if no DISCONNECT is sent.
    var disconnectCode: PacketReasonCode? {
        switch self {
        case .refused, .disconnected, .tooManyConnections, .connectTimeout, .answerTooLarge: nil
        case .protocolViolation(let code), .administrative(let code): code
        case .malformed(let error): error.reasonCode
        case .takenOver: .sessionTakenOver  // [MQTT-3.1.4-3]
        case .keepAliveTimeout: .keepAliveTimeout
        }
    }
}
