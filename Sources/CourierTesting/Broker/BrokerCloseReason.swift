public import MQTTCodec

/// Why a ``BrokerMachine`` closes a connection.
public enum BrokerCloseReason: Hashable, Sendable {
    /// CONNECT was answered with this code.
    case refused(PacketReasonCode)
    /// The client sent DISCONNECT with this code.
    case disconnected(PacketReasonCode)
    /// The client did what the protocol or a limit forbids; MQTT 5 clients are told this code.
    case protocolViolation(PacketReasonCode)
    /// The client sent bytes that are no packet.
    case malformed(DecodeError)
    /// Another connection has taken over the session.
    case takenOver
    /// No CONNECT came in time.
    case connectTimeout
    /// Nothing was heard for one and a half keep-alive times.
    case keepAliveTimeout
    /// There were too many connections.
    case tooManyConnections
    /// The client does not take packets of the size that an answer would have.
    case answerTooLarge
    /// The operator wanted it so.
    case administrative(PacketReasonCode)

    /// The code for a DISCONNECT that says so; `nil` when none is sent.
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
