extension PropertyID: CustomStringConvertible {
    /// The name of the case for error messages. Embedded Swift cannot print a case without this text.
    public var description: String {
        switch self {
        case .payloadFormatIndicator: "payloadFormatIndicator"
        case .messageExpiryInterval: "messageExpiryInterval"
        case .contentType: "contentType"
        case .responseTopic: "responseTopic"
        case .correlationData: "correlationData"
        case .subscriptionIdentifier: "subscriptionIdentifier"
        case .sessionExpiryInterval: "sessionExpiryInterval"
        case .assignedClientIdentifier: "assignedClientIdentifier"
        case .serverKeepAlive: "serverKeepAlive"
        case .authenticationMethod: "authenticationMethod"
        case .authenticationData: "authenticationData"
        case .requestProblemInformation: "requestProblemInformation"
        case .willDelayInterval: "willDelayInterval"
        case .requestResponseInformation: "requestResponseInformation"
        case .responseInformation: "responseInformation"
        case .serverReference: "serverReference"
        case .reasonString: "reasonString"
        case .receiveMaximum: "receiveMaximum"
        case .topicAliasMaximum: "topicAliasMaximum"
        case .topicAlias: "topicAlias"
        case .maximumQoS: "maximumQoS"
        case .retainAvailable: "retainAvailable"
        case .userProperty: "userProperty"
        case .maximumPacketSize: "maximumPacketSize"
        case .wildcardSubscriptionAvailable: "wildcardSubscriptionAvailable"
        case .subscriptionIdentifiersAvailable: "subscriptionIdentifiersAvailable"
        case .sharedSubscriptionAvailable: "sharedSubscriptionAvailable"
        }
    }
}
