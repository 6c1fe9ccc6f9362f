public import MQTTCodec

/// The reason why a connection ended or must end.
public enum CloseReason: Hashable, Sendable {
    /// The server refused CONNECT. CONNACK contains the reason and, if the server sent one, the address of another
    /// server.
    case refused(ConnAck)
    /// The server does not support the tried version. The next connection tries the version `next`.
    case versionNotSupported(next: ProtocolVersion)
    /// The configured CONNECT cannot be encoded, so the caller must change it.
    case malformedConnect(EncodeError)
    /// CONNACK did not arrive in time.
    case connectTimeout
    /// The server ended the connection with a DISCONNECT of MQTT 5.
    case disconnectedByServer(Disconnect)
    /// A packet could not be decoded, or it exceeded a limit.
    case malformedPacket(DecodeError)
    /// The server violated the protocol.
    case protocolError(ProtocolError)
    /// The server did not answer a PINGREQ in time.
    case pingTimeout
    /// The server did not acknowledge this packet in time.
    case acknowledgementTimeout(OverduePacket)
    /// The caller requested the end of the connection.
    case requested
    /// The byte stream ended or failed, and no other reason applies.
    case transportClosed
}

/// A packet that the server did not acknowledge in time.
public struct OverduePacket: Hashable, Sendable {
    /// The type of the packet: PUBLISH, PUBREL, SUBSCRIBE or UNSUBSCRIBE.
    public let type: PacketType
    /// The packet id.
    public let id: PacketID
    /// The time that the client waits for an acknowledgement.
    public let timeout: Duration

    /// Makes a value from its parts.
    ///
    /// - Parameters:
    ///   - type: The type of the packet.
    ///   - id: The packet id.
    ///   - timeout: The time that the client waits for an acknowledgement.
    public init(_ type: PacketType, _ id: PacketID, timeout: Duration) {
        self.type = type
        self.id = id
        self.timeout = timeout
    }
}

/// A protocol violation of the server, with well-formed packets.
public enum ProtocolError: Hashable, Sendable {
    /// Before CONNACK, a packet other than CONNACK or AUTH arrived ([MQTT-3.2.0-1]).
    case packetBeforeConnAck(PacketType)
    /// After CONNACK, a packet arrived that the server may not send.
    case unexpectedPacket(PacketType)
    /// CONNACK reports an existing session, although CONNECT requested a clean start ([MQTT-3.2.2-2]).
    case sessionAfterCleanStart
    /// The server assigned a client id although CONNECT contained one (MQTT 5.0, 3.2.2.3.7). The session may belong to
    /// another client.
    case clientIDAssigned
    /// The server's maximum packet size in CONNACK is smaller than an acknowledgement, so that the client could
    /// acknowledge no message.
    case maximumPacketSizeTooSmall(UInt32)
    /// The server sent more unacknowledged messages than the client's receive maximum allows ([MQTT-3.3.4-9]).
    case receiveMaximumExceeded
    /// The server used a topic alias above the client's maximum ([MQTT-3.3.2-10]).
    case topicAliasTooHigh(UInt16)
    /// The server used a topic alias that it never defined with a topic name.
    case unknownTopicAlias(UInt16)
    /// The number of results in SUBACK or UNSUBACK differs from the number of filters ([MQTT-3.8.4-6]).
    case wrongResultCount(PacketType, expected: Int, actual: Int)
    /// AUTH arrived although CONNECT contained no authentication method ([MQTT-4.12.0-6]).
    case unexpectedAuthentication
    /// The authentication method of AUTH differs from the method of CONNECT ([MQTT-4.12.0-5]).
    case wrongAuthenticationMethod
    /// An acknowledgement has a packet type that does not fit the packet with this packet id.
    case wrongAcknowledgement(PacketType, PacketID)
    /// The server sends packets but does not read the client's answers. The value is the number of bytes that wait to
    /// be sent to the server.
    case answersUnread(waitingByteCount: Int)

    /// The MQTT 5 reason code for the client's DISCONNECT.
    public var reasonCode: PacketReasonCode {
        switch self {
        case .receiveMaximumExceeded: .receiveMaximumExceeded
        case .topicAliasTooHigh: .topicAliasInvalid
        case .packetBeforeConnAck, .unexpectedPacket, .sessionAfterCleanStart, .clientIDAssigned,
            .maximumPacketSizeTooSmall, .unknownTopicAlias, .wrongResultCount, .unexpectedAuthentication,
            .wrongAuthenticationMethod, .wrongAcknowledgement, .answersUnread:
            .protocolError
        }
    }
}
