public import MQTTCodec

/// An action that the caller must perform, or an event that the engine reports. An ``ActionList`` contains the actions
/// in the order in which they happened.
///
/// Bytes to send are not actions. The engine writes these bytes into the buffer parameter of the same call.
public enum EngineAction: Hashable, Sendable {
    /// The server accepted the connection. The caller must now subscribe to the filters that the server does not have.
    /// If ``MQTTCodec/ConnAck/isSessionPresent`` is `false`, the server has no filter of this client.
    case connected(ConnAck)
    /// A message arrived.
    case message(IncomingMessage)
    /// Before MQTT 5, a message arrived that is larger than ``EngineConfiguration/maximumPacketSize``. The engine
    /// discarded its payload. Reported after the last byte arrived.
    case skipped(SkippedMessage)
    /// The delivery of a received QoS 2 message is complete, or PUBREC refused the message. The server may now use the
    /// packet id for a new message.
    case incomingReleased(PacketID)
    /// The delivery of a received QoS 2 message will never be completed, because the server lost the session. The
    /// packet id belongs to the next message. Reported only with ``EngineConfiguration/awaitsStorage``.
    case incomingReplaced(PacketID)
    /// An outgoing message was assigned a packet id. Its PUBLISH is written for the first time in this session.
    case sent(Token, PacketID)
    /// The server has received a QoS 2 message (PUBREC). The message must not be sent as PUBLISH again.
    case receivedByServer(Token)
    /// A QoS 2 message was given up, although the server may have received it. The action ``failed(_:_:)`` follows. The
    /// packet id is freed after the caller has stored that the message was given up. Reported only with
    /// ``EngineConfiguration/awaitsStorage``.
    case givenUp(Token, PacketID)
    /// The delivery of an outgoing message ended with an acknowledgement. A failure code means that the server refused
    /// the message. QoS 0 messages are not acknowledged.
    case acknowledged(Token, PacketReasonCode, PacketProperties)
    /// The server acknowledges QoS 2 messages with PUBACK, as if they had QoS 1. Reported once for each connection,
    /// before the action ``acknowledged(_:_:_:)`` of the first such message.
    case qosDowngraded
    /// The server lost the session before it finished this message. The caller must publish the message again. The
    /// caller publishes the returned messages in the order of their actions, and before all new messages.
    ///
    /// The engine has forgotten the message. Reported only with ``EngineConfiguration/SessionLossPolicy/resend``.
    case returned(Token)
    /// The server's answer to SUBSCRIBE.
    case subscribed(Token, SubAck)
    /// The server's answer to UNSUBSCRIBE.
    case unsubscribed(Token, UnsubAck)
    /// The message or request with this token failed.
    case failed(Token, Failure)
    /// The server requests the next step of an authentication. Answer with ``ClientEngine/authenticate(_:now:into:)``.
    case authenticationContinued(Auth)
    /// The server accepted a re-authentication.
    case authenticated(Auth)
    /// A PINGREQ is being sent.
    case pingSent
    /// PINGRESP arrived. `roundTrip` is the time since PINGREQ was written.
    case pongReceived(roundTrip: Duration)
    /// The connection ended. The caller writes the bytes in the buffer, and then closes the byte stream. No further
    /// action follows on this connection.
    case close(CloseReason)

    /// The reason why a message or request failed.
    public enum Failure: Hashable, Sendable {
        /// There is no connection. The engine does not keep the message or request for the next connection.
        case notConnected
        /// The connection ended before the answer arrived. The engine does not repeat SUBSCRIBE, UNSUBSCRIBE, and
        /// messages whose `isRetried` is false.
        case connectionLost
        /// The server lost the session. The message was not sent again, because the policy is `fail` or its PUBREC
        /// arrived.
        case sessionLost
        /// The engine dropped the message, for one of three reasons. The session was lost and the policy is `drop`, the
        /// caller called ``ClientEngine/forgetSession(_:)``, or the message could not be restored.
        case dropped
        /// The message expired before it was sent.
        case expired
        /// No further message or request is possible now. The server's receive maximum, the send limit or the packet
        /// ids are used up, or messages of an earlier connection wait to be sent again. For messages,
        /// ``ClientEngine/publishCapacity`` is then 0.
        case quotaExceeded
        /// The packet cannot be encoded, or is larger than the server allows.
        case notEncodable(EncodeError)
        /// The server's CONNACK says that the server does not support this feature.
        case notSupportedByServer(PacketReasonCode)
    }
}
