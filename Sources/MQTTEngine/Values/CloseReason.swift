public import MQTTCodec

/// Why a connection has ended, or has to.
public enum CloseReason: Hashable, Sendable {
    /// The server refused the CONNECT; the CONNACK says why, and where else to go.
    case refused(ConnAck)
    /// The server does not speak the version that was tried; the next connection will try this one.
    case versionNotSupported(next: ProtocolVersion)
    /// The configured CONNECT cannot be written: the caller has to change it.
    case malformedConnect(EncodeError)
    /// There was no CONNACK in time.
    case connectTimeout
    /// The server ended the connection with a DISCONNECT of MQTT 5.
    case disconnectedByServer(Disconnect)
    /// A packet could not be decoded, or broke a limit.
    case malformedPacket(DecodeError)
    /// A packet that the protocol does not allow here.
    case protocolError(ProtocolError)
    /// The server did not answer a PINGREQ in time.
    case pingTimeout
    /// The server did not acknowledge a packet in time.
    case acknowledgementTimeout
    /// The caller asked for it.
    case requested
    /// The byte stream ended, or failed, without any of the above.
    case transportClosed
}

/// A packet that is well-formed and still wrong: the server does something that the protocol does not allow.
public enum ProtocolError: Hashable, Sendable {
    /// A packet other than CONNACK or AUTH came first ([MQTT-3.2.0-1]).
    case packetBeforeConnAck(PacketType)
    /// A packet came that only makes sense before the connection is accepted.
    case unexpectedPacket(PacketType)
    /// The server claims a session although a clean start was asked for ([MQTT-3.2.2-2]).
    case sessionAfterCleanStart
    /// The server assigned a client id although CONNECT had one (MQTT 5.0, 3.2.2.3.7): the session may be another client's.
    case clientIDAssigned
    /// More unacknowledged messages than our receive maximum allows ([MQTT-3.3.4-9]).
    case receiveMaximumExceeded
    /// A topic alias above our maximum ([MQTT-3.3.2-10]).
    case topicAliasTooHigh(UInt16)
    /// A topic alias that was never given a topic name.
    case unknownTopicAlias(UInt16)
    /// A SUBACK or UNSUBACK with another number of results than there were filters ([MQTT-3.8.4-6]).
    case wrongResultCount(PacketType, expected: Int, actual: Int)
    /// An AUTH although no authentication method was named in CONNECT ([MQTT-4.12.0-6]).
    case unexpectedAuthentication
    /// An acknowledgement of another kind than the packet with this id needs.
    case wrongAcknowledgement(PacketType, PacketID)
    /// The server sends on and on and reads none of the answers; so many bytes wait for it.
    case answersUnread(waitingByteCount: Int)

    /// The MQTT 5 reason code to disconnect with.
    public var reasonCode: PacketReasonCode {
        switch self {
        case .receiveMaximumExceeded: .receiveMaximumExceeded
        case .topicAliasTooHigh: .topicAliasInvalid
        case .packetBeforeConnAck, .unexpectedPacket, .sessionAfterCleanStart, .clientIDAssigned, .unknownTopicAlias,
            .wrongResultCount, .unexpectedAuthentication, .wrongAcknowledgement, .answersUnread:
            .protocolError
        }
    }
}
