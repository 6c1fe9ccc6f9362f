/// An MQTT 5 reason code: the one-byte result in acknowledgements, DISCONNECT and AUTH.
///
/// MQTT 3.1.1 has fewer codes. Its CONNACK return codes are decoded as the MQTT 5 codes with the same meaning. Its
/// SUBACK failure 0x80 is decoded as ``unspecifiedError``.
public enum PacketReasonCode: UInt8, CaseIterable, Sendable {
    /// 0x00: success; also "normal disconnection" in DISCONNECT and "granted QoS 0" in SUBACK.
    case success = 0x00
    /// 0x01: the subscription is granted with a maximum QoS of 1.
    case grantedQoS1 = 0x01
    /// 0x02: the subscription is granted with a maximum QoS of 2.
    case grantedQoS2 = 0x02
    /// 0x04: the client disconnects, and the server must publish the will message.
    case disconnectWithWillMessage = 0x04
    /// 0x10: the message is accepted, but no client is subscribed to its topic.
    case noMatchingSubscribers = 0x10
    /// 0x11: the client was not subscribed to this filter.
    case noSubscriptionExisted = 0x11
    /// 0x18: the next step of an authentication follows.
    case continueAuthentication = 0x18
    /// 0x19: the client starts a new authentication on the same connection.
    case reauthenticate = 0x19
    /// 0x80: an error without a more specific reason.
    case unspecifiedError = 0x80
    /// 0x81: the packet could not be parsed.
    case malformedPacket = 0x81
    /// 0x82: the protocol does not allow this packet at this time.
    case protocolError = 0x82
    /// 0x83: the packet is valid, but this implementation does not accept it.
    case implementationSpecificError = 0x83
    /// 0x84: the server does not support this version of MQTT.
    case unsupportedProtocolVersion = 0x84
    /// 0x85: the client identifier is not allowed.
    case clientIdentifierNotValid = 0x85
    /// 0x86: the user name or password is wrong.
    case badUserNameOrPassword = 0x86
    /// 0x87: the client is not authorized for this operation.
    case notAuthorized = 0x87
    /// 0x88: the server is not available.
    case serverUnavailable = 0x88
    /// 0x89: the server is busy; try again later.
    case serverBusy = 0x89
    /// 0x8A: this client has been banned.
    case banned = 0x8A
    /// 0x8B: the server is shutting down.
    case serverShuttingDown = 0x8B
    /// 0x8C: the authentication method is not supported or does not match.
    case badAuthenticationMethod = 0x8C
    /// 0x8D: no packet arrived for 1.5 times the keep-alive.
    case keepAliveTimeout = 0x8D
    /// 0x8E: another connection uses the same client identifier.
    case sessionTakenOver = 0x8E
    /// 0x8F: the topic filter is not accepted.
    case topicFilterInvalid = 0x8F
    /// 0x90: the topic name is not accepted.
    case topicNameInvalid = 0x90
    /// 0x91: the packet id is already in use.
    case packetIdentifierInUse = 0x91
    /// 0x92: no exchange with this packet id exists.
    case packetIdentifierNotFound = 0x92
    /// 0x93: the peer sent more unacknowledged messages than the receive maximum allows.
    case receiveMaximumExceeded = 0x93
    /// 0x94: the topic alias is 0 or above the maximum.
    case topicAliasInvalid = 0x94
    /// 0x95: the packet is larger than the maximum packet size.
    case packetTooLarge = 0x95
    /// 0x96: messages arrive faster than the receiver can process them.
    case messageRateTooHigh = 0x96
    /// 0x97: a limit is reached that the server or an administrator has set.
    case quotaExceeded = 0x97
    /// 0x98: an administrator ended the connection.
    case administrativeAction = 0x98
    /// 0x99: the payload does not match its payload format indicator.
    case payloadFormatInvalid = 0x99
    /// 0x9A: the server does not support retained messages.
    case retainNotSupported = 0x9A
    /// 0x9B: the server does not support this QoS.
    case qosNotSupported = 0x9B
    /// 0x9C: the client should use another server temporarily.
    case useAnotherServer = 0x9C
    /// 0x9D: the client should use another server permanently.
    case serverMoved = 0x9D
    /// 0x9E: the server does not support shared subscriptions.
    case sharedSubscriptionsNotSupported = 0x9E
    /// 0x9F: too many connections were opened in too short a time.
    case connectionRateExceeded = 0x9F
    /// 0xA0: the connection reached its longest allowed duration.
    case maximumConnectTime = 0xA0
    /// 0xA1: the server does not support subscription identifiers.
    case subscriptionIdentifiersNotSupported = 0xA1
    /// 0xA2: the server does not support wildcards in topic filters.
    case wildcardSubscriptionsNotSupported = 0xA2

    /// True if the code reports a failure: the code is 0x80 or above.
    public var isFailure: Bool { rawValue >= 0x80 }
}

extension PacketReasonCode {
    /// The MQTT 5 codes for the CONNACK return codes 1 to 5 of versions before MQTT 5, in order.
    private static let oldConnAckRefusals: [Self] = [
        .unsupportedProtocolVersion, .clientIdentifierNotValid, .serverUnavailable, .badUserNameOrPassword,
        .notAuthorized,
    ]

    /// Converts a CONNACK return code of a version before MQTT 5. Returns `nil` for a reserved return code.
    init?(oldConnAckCode code: UInt8) {
        if code == 0 {
            self = .success
        } else if Self.oldConnAckRefusals.indices.contains(Int(code) - 1) {
            self = Self.oldConnAckRefusals[Int(code) - 1]
        } else {
            return nil
        }
    }

    /// The CONNACK return code with the same meaning in versions before MQTT 5; `nil` if there is none.
    var oldConnAckCode: UInt8? {
        if self == .success { return 0 }
        return Self.oldConnAckRefusals.firstIndex(of: self).map { UInt8($0 + 1) }
    }

    /// Returns true if `sender` may send this code in an MQTT 5 packet of type `packet`.
    ///
    /// The allowed codes come from Tables 3-1 (CONNACK), 3-4 to 3-7 (acknowledgements), 3-8 (SUBACK), 3-9 (UNSUBACK),
    /// 3-10 (DISCONNECT) and 3-11 (AUTH). In DISCONNECT, code 0x8C is also allowed, because Table 2-6 lists it for
    /// DISCONNECT.
    package func isAllowed(in packet: PacketType, from sender: Endpoint) -> Bool {
        switch packet {
        case .connAck:
            switch self {
            case .success, .unspecifiedError, .malformedPacket, .protocolError, .implementationSpecificError,
                .unsupportedProtocolVersion, .clientIdentifierNotValid, .badUserNameOrPassword, .notAuthorized,
                .serverUnavailable, .serverBusy, .banned, .badAuthenticationMethod, .topicNameInvalid, .packetTooLarge,
                .quotaExceeded, .payloadFormatInvalid, .retainNotSupported, .qosNotSupported, .useAnotherServer,
                .serverMoved, .connectionRateExceeded:
                true
            default: false
            }
        case .pubAck, .pubRec:
            switch self {
            case .success, .unspecifiedError, .implementationSpecificError, .notAuthorized, .topicNameInvalid,
                .packetIdentifierInUse, .quotaExceeded, .payloadFormatInvalid:
                true
            case .noMatchingSubscribers: sender == .server
            default: false
            }
        case .pubRel, .pubComp: self == .success || self == .packetIdentifierNotFound
        case .subAck:
            switch self {
            case .success, .grantedQoS1, .grantedQoS2, .unspecifiedError, .implementationSpecificError, .notAuthorized,
                .topicFilterInvalid, .packetIdentifierInUse, .quotaExceeded, .sharedSubscriptionsNotSupported,
                .subscriptionIdentifiersNotSupported, .wildcardSubscriptionsNotSupported:
                true
            default: false
            }
        case .unsubAck:
            switch self {
            case .success, .noSubscriptionExisted, .unspecifiedError, .implementationSpecificError, .notAuthorized,
                .topicFilterInvalid, .packetIdentifierInUse:
                true
            default: false
            }
        case .disconnect:
            switch self {
            case .success, .unspecifiedError, .malformedPacket, .protocolError, .implementationSpecificError,
                .topicNameInvalid, .receiveMaximumExceeded, .topicAliasInvalid, .packetTooLarge, .messageRateTooHigh,
                .quotaExceeded, .administrativeAction, .payloadFormatInvalid:
                true
            case .disconnectWithWillMessage: sender == .client
            case .notAuthorized, .serverBusy, .serverShuttingDown, .badAuthenticationMethod, .keepAliveTimeout,
                .sessionTakenOver, .topicFilterInvalid, .retainNotSupported, .qosNotSupported, .useAnotherServer,
                .serverMoved, .sharedSubscriptionsNotSupported, .connectionRateExceeded, .maximumConnectTime,
                .subscriptionIdentifiersNotSupported, .wildcardSubscriptionsNotSupported:
                sender == .server
            default: false
            }
        case .auth:
            switch self {
            case .success: sender == .server
            case .continueAuthentication: true
            case .reauthenticate: sender == .client
            default: false
            }
        case .connect, .publish, .subscribe, .unsubscribe, .pingReq, .pingResp: false
        }
    }
}
