import MQTTCodec

extension PacketReasonCode {
    /// The remedy for a refusal or a disconnection with this code, as a sentence; `nil` if there is no remedy.
    var remedy: String? {
        switch self {
        case .unspecifiedError, .implementationSpecificError: "The broker's log may say more."
        case .unsupportedProtocolVersion: "Set the MQTT version of the client to a version that the broker supports."
        case .clientIdentifierNotValid:
            "Use a client id that the broker allows; all brokers allow 1 to 23 letters and digits."
        case .badUserNameOrPassword: "Get new credentials, or correct them."
        case .notAuthorized:
            "Check the user name and the password, or ask the broker's administrator for the permission."
        case .serverUnavailable, .serverBusy, .serverShuttingDown: "Try again later."
        case .banned: "Ask the broker's administrator why this client is banned."
        case .badAuthenticationMethod: "Use an authentication method that the broker supports."
        case .keepAliveTimeout:
            "The broker received nothing for one and a half keep-alive intervals; use a longer keepAlive."
        case .sessionTakenOver:
            "Another connection uses the same client id; give each client its own id, such as \"myapp_%%%%\"."
        case .topicFilterInvalid: "The broker does not accept this topic filter."
        case .topicNameInvalid: "The broker does not accept this topic name."
        case .receiveMaximumExceeded: "Reduce the number of messages in flight."
        case .packetTooLarge: "Send smaller messages, or raise the broker's limit."
        case .messageRateTooHigh, .connectionRateExceeded: "Wait longer between two attempts."
        case .quotaExceeded: "A limit of the broker is reached; wait, or ask its administrator to raise it."
        case .administrativeAction: "The broker's administrator ended the connection."
        case .payloadFormatInvalid: "The payload is not UTF-8, although its format indicator says UTF-8."
        case .retainNotSupported: "Do not retain messages with this broker."
        case .qosNotSupported: "Use a lower quality of service with this broker."
        case .useAnotherServer, .serverMoved: "Connect to another server."
        case .sharedSubscriptionsNotSupported: "Do not use $share/ filters with this broker."
        case .subscriptionIdentifiersNotSupported: "Do not use subscription identifiers with this broker."
        case .wildcardSubscriptionsNotSupported: "Do not use + and # with this broker."
        case .maximumConnectTime: "The broker limits how long a connection lasts; connect again."
        case .success, .grantedQoS1, .grantedQoS2, .disconnectWithWillMessage, .noMatchingSubscribers,
            .noSubscriptionExisted, .continueAuthentication, .reauthenticate, .malformedPacket, .protocolError,
            .topicAliasInvalid, .packetIdentifierInUse, .packetIdentifierNotFound:
            nil
        }
    }
}
