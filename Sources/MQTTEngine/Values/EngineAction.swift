public import MQTTCodec

/// What the engine wants done, or tells, in the order in which it happened.
///
/// Bytes to send are not among them: they are in the buffer that the same call was given.
public enum EngineAction: Hashable, Sendable {
    /// The server accepted the connection. Subscriptions that the server should have are sent now: all of them if
    /// ``MQTTCodec/ConnAck/isSessionPresent`` is `false`.
    case connected(ConnAck)
    /// A message has arrived.
    case message(IncomingMessage)
    /// A QoS 2 message that was received is complete, or the server is told by PUBREC that it was refused: its packet id
    /// means a new message from now on.
    case incomingReleased(PacketID)
    /// A QoS 2 message that was received is not complete and never will be: its packet id means the message that follows.
    /// Only with ``EngineConfiguration/awaitsStorage``.
    case incomingReplaced(PacketID)
    /// An outgoing message has been given a packet id and is being written for the first time in this session.
    case sent(Token, PacketID)
    /// The server has a QoS 2 message (PUBREC) and it must not be sent as a PUBLISH again.
    case receivedByServer(Token)
    /// A QoS 2 message was given up that the server may have; its failure follows. Only with
    /// ``EngineConfiguration/awaitsStorage``: its packet id is freed once its end is stored.
    case givenUp(Token, PacketID)
    /// The exchange of an outgoing message has ended; a failure code means that the server refused it. QoS 0 has no exchange.
    case acknowledged(Token, PacketReasonCode, PacketProperties)
    /// The server acknowledges messages of QoS 2 as if they had QoS 1; told once for each connection, before the first of
    /// them is ``acknowledged(_:_:_:)``.
    case qosDowngraded
    /// The server lost the session before it finished this message. Publish the message again: the messages of these
    /// actions in the order of the actions, and before all messages that were not published yet.
    ///
    /// The engine has forgotten the message. Only with ``EngineConfiguration/SessionLossPolicy/resend``.
    case returned(Token)
    /// The server's answer to SUBSCRIBE.
    case subscribed(Token, SubAck)
    /// The server's answer to UNSUBSCRIBE.
    case unsubscribed(Token, UnsubAck)
    /// What was asked for under this name will not happen.
    case failed(Token, Failure)
    /// The server wants the next step of an authentication: answer with ``ClientEngine/authenticate(_:now:into:)``.
    case authenticationContinued(Auth)
    /// The server accepted a re-authentication.
    case authenticated(Auth)
    /// A PINGREQ is being sent.
    case pingSent
    /// It was answered after this long.
    case pongReceived(roundTrip: Duration)
    /// The connection is over: write what is in the buffer, then close the stream. Nothing follows it.
    case close(CloseReason)

    /// Why something will not happen.
    public enum Failure: Hashable, Sendable {
        /// There is no connection; the engine keeps nothing for the next one.
        case notConnected
        /// The connection ended before the answer came. SUBSCRIBE and UNSUBSCRIBE are not repeated by themselves.
        case connectionLost
        /// The server has lost the session, and the policy says that messages in flight fail.
        case sessionLost
        /// The server has lost the session, and the policy says that messages in flight are dropped.
        case dropped
        /// The message's time ran out before it could be sent.
        case expired
        /// As many exchanges are in flight as the server's receive maximum or the packet ids allow, or exchanges of an
        /// earlier connection wait to be sent again. For messages ``ClientEngine/publishCapacity`` says so before.
        case quotaExceeded
        /// The packet cannot be written, or is larger than the server takes.
        case notEncodable(EncodeError)
        /// The server said in its CONNACK that it does not do this.
        case notSupportedByServer(PacketReasonCode)
    }
}
