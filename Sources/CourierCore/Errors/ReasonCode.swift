/// The byte with which an MQTT peer reports a result (MQTT 5.0 §2.4). The client converts the return codes of MQTT
/// 3.1.1 to reason codes.
///
/// Values from 0x80 on are failures. Codes that MQTT does not define are kept unchanged.
public struct ReasonCode: RawRepresentable, Hashable, Sendable {
    /// The byte in the packet.
    public let rawValue: UInt8

    /// Creates a reason code from its byte. Every value is accepted.
    public init(rawValue: UInt8) { self.rawValue = rawValue }

    /// True for values from 0x80 on, which mean that the requested operation failed.
    public var isError: Bool { rawValue >= 0x80 }
}

extension ReasonCode {
    /// 0x00: success. In DISCONNECT, this code means a normal disconnection; in SUBACK, it grants QoS 0.
    public static let success = ReasonCode(rawValue: 0x00)
    /// 0x00 in DISCONNECT: the connection ends normally, and the will is not published.
    public static let normalDisconnection = success
    /// 0x00 in SUBACK: subscribed with QoS 0.
    public static let grantedQoS0 = success
    /// 0x01: subscribed with QoS 1.
    public static let grantedQoS1 = ReasonCode(rawValue: 0x01)
    /// 0x02: subscribed with QoS 2.
    public static let grantedQoS2 = ReasonCode(rawValue: 0x02)
    /// 0x04: the client ends the connection and asks the broker to publish the will.
    public static let disconnectWithWillMessage = ReasonCode(rawValue: 0x04)
    /// 0x10: the message was accepted, but no client subscribes to its topic.
    public static let noMatchingSubscribers = ReasonCode(rawValue: 0x10)
    /// 0x11: the subscription did not exist.
    public static let noSubscriptionExisted = ReasonCode(rawValue: 0x11)
    /// 0x18: the authentication exchange continues.
    public static let continueAuthentication = ReasonCode(rawValue: 0x18)
    /// 0x19: a new authentication exchange begins.
    public static let reAuthenticate = ReasonCode(rawValue: 0x19)
    /// 0x80: a failure without a further explanation.
    public static let unspecifiedError = ReasonCode(rawValue: 0x80)
    /// 0x81: a packet could not be parsed.
    public static let malformedPacket = ReasonCode(rawValue: 0x81)
    /// 0x82: a packet arrived that the protocol does not allow at this point.
    public static let protocolError = ReasonCode(rawValue: 0x82)
    /// 0x83: the packet is valid, but this receiver does not accept it.
    public static let implementationSpecificError = ReasonCode(rawValue: 0x83)
    /// 0x84: the broker does not support this protocol version.
    public static let unsupportedProtocolVersion = ReasonCode(rawValue: 0x84)
    /// 0x85: the broker does not allow this client id.
    public static let clientIdentifierNotValid = ReasonCode(rawValue: 0x85)
    /// 0x86: the user name or password is wrong.
    public static let badUserNameOrPassword = ReasonCode(rawValue: 0x86)
    /// 0x87: the client is not authorized for this operation.
    public static let notAuthorized = ReasonCode(rawValue: 0x87)
    /// 0x88: the broker is not available.
    public static let serverUnavailable = ReasonCode(rawValue: 0x88)
    /// 0x89: the broker is busy; try again later.
    public static let serverBusy = ReasonCode(rawValue: 0x89)
    /// 0x8A: the broker has banned this client.
    public static let banned = ReasonCode(rawValue: 0x8A)
    /// 0x8B: the broker is shutting down.
    public static let serverShuttingDown = ReasonCode(rawValue: 0x8B)
    /// 0x8C: the authentication method is not supported, or is not the current method.
    public static let badAuthenticationMethod = ReasonCode(rawValue: 0x8C)
    /// 0x8D: no packet arrived for one and a half keep-alive intervals.
    public static let keepAliveTimeout = ReasonCode(rawValue: 0x8D)
    /// 0x8E: another connection with the same client id took over the session.
    public static let sessionTakenOver = ReasonCode(rawValue: 0x8E)
    /// 0x8F: the topic filter is well formed, but not accepted.
    public static let topicFilterInvalid = ReasonCode(rawValue: 0x8F)
    /// 0x90: the topic name is well formed, but not accepted.
    public static let topicNameInvalid = ReasonCode(rawValue: 0x90)
    /// 0x91: the packet id is already in use.
    public static let packetIdentifierInUse = ReasonCode(rawValue: 0x91)
    /// 0x92: the packet id is unknown.
    public static let packetIdentifierNotFound = ReasonCode(rawValue: 0x92)
    /// 0x93: more messages are in flight than the receive maximum allows.
    public static let receiveMaximumExceeded = ReasonCode(rawValue: 0x93)
    /// 0x94: a topic alias is out of range.
    public static let topicAliasInvalid = ReasonCode(rawValue: 0x94)
    /// 0x95: the packet is larger than the receiver accepts.
    public static let packetTooLarge = ReasonCode(rawValue: 0x95)
    /// 0x96: too many messages in too short a time.
    public static let messageRateTooHigh = ReasonCode(rawValue: 0x96)
    /// 0x97: a limit of the broker or of its administrator is exceeded.
    public static let quotaExceeded = ReasonCode(rawValue: 0x97)
    /// 0x98: the connection was closed by an administrator.
    public static let administrativeAction = ReasonCode(rawValue: 0x98)
    /// 0x99: the payload does not have the format that its format indicator declares.
    public static let payloadFormatInvalid = ReasonCode(rawValue: 0x99)
    /// 0x9A: the broker does not support retained messages.
    public static let retainNotSupported = ReasonCode(rawValue: 0x9A)
    /// 0x9B: the broker does not support this quality of service.
    public static let qosNotSupported = ReasonCode(rawValue: 0x9B)
    /// 0x9C: the client should temporarily use another server.
    public static let useAnotherServer = ReasonCode(rawValue: 0x9C)
    /// 0x9D: the client should permanently use another server.
    public static let serverMoved = ReasonCode(rawValue: 0x9D)
    /// 0x9E: the broker does not support shared subscriptions.
    public static let sharedSubscriptionsNotSupported = ReasonCode(rawValue: 0x9E)
    /// 0x9F: too many connections in too short a time.
    public static let connectionRateExceeded = ReasonCode(rawValue: 0x9F)
    /// 0xA0: the maximum time for this connection has passed.
    public static let maximumConnectTime = ReasonCode(rawValue: 0xA0)
    /// 0xA1: the broker does not support subscription identifiers.
    public static let subscriptionIdentifiersNotSupported = ReasonCode(rawValue: 0xA1)
    /// 0xA2: the broker does not support wildcard subscriptions.
    public static let wildcardSubscriptionsNotSupported = ReasonCode(rawValue: 0xA2)
}

extension ReasonCode: CustomStringConvertible {
    /// The name of the code in the specification; `"Unknown reason"` for a code that MQTT does not define.
    public var name: String {
        switch self {
        case .success: "Success"
        case .grantedQoS1: "Granted QoS 1"
        case .grantedQoS2: "Granted QoS 2"
        case .disconnectWithWillMessage: "Disconnect with Will Message"
        case .noMatchingSubscribers: "No matching subscribers"
        case .noSubscriptionExisted: "No subscription existed"
        case .continueAuthentication: "Continue authentication"
        case .reAuthenticate: "Re-authenticate"
        case .unspecifiedError: "Unspecified error"
        case .malformedPacket: "Malformed Packet"
        case .protocolError: "Protocol Error"
        case .implementationSpecificError: "Implementation specific error"
        case .unsupportedProtocolVersion: "Unsupported Protocol Version"
        case .clientIdentifierNotValid: "Client Identifier not valid"
        case .badUserNameOrPassword: "Bad User Name or Password"
        case .notAuthorized: "Not authorized"
        case .serverUnavailable: "Server unavailable"
        case .serverBusy: "Server busy"
        case .banned: "Banned"
        case .serverShuttingDown: "Server shutting down"
        case .badAuthenticationMethod: "Bad authentication method"
        case .keepAliveTimeout: "Keep Alive timeout"
        case .sessionTakenOver: "Session taken over"
        case .topicFilterInvalid: "Topic Filter invalid"
        case .topicNameInvalid: "Topic Name invalid"
        case .packetIdentifierInUse: "Packet Identifier in use"
        case .packetIdentifierNotFound: "Packet Identifier not found"
        case .receiveMaximumExceeded: "Receive Maximum exceeded"
        case .topicAliasInvalid: "Topic Alias invalid"
        case .packetTooLarge: "Packet too large"
        case .messageRateTooHigh: "Message rate too high"
        case .quotaExceeded: "Quota exceeded"
        case .administrativeAction: "Administrative action"
        case .payloadFormatInvalid: "Payload format invalid"
        case .retainNotSupported: "Retain not supported"
        case .qosNotSupported: "QoS not supported"
        case .useAnotherServer: "Use another server"
        case .serverMoved: "Server moved"
        case .sharedSubscriptionsNotSupported: "Shared Subscriptions not supported"
        case .connectionRateExceeded: "Connection rate exceeded"
        case .maximumConnectTime: "Maximum connect time"
        case .subscriptionIdentifiersNotSupported: "Subscription Identifiers not supported"
        case .wildcardSubscriptionsNotSupported: "Wildcard Subscriptions not supported"
        default: "Unknown reason"
        }
    }

    /// The name and the byte, such as `Not authorized (0x87)`.
    public var description: String {
        let digits = String(rawValue, radix: 16, uppercase: true)
        return "\(name) (0x\(digits.count < 2 ? "0" : "")\(digits))"
    }
}
