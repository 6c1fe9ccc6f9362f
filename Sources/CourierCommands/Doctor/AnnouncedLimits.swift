import MQTTCodec

/// What a broker allows, as its CONNACK of MQTT 5 says or, where it says nothing, as the specification has it (3.2.2.3).
struct AnnouncedLimits: Hashable, Encodable, Sendable {
    /// How many messages of QoS 1 and 2 the broker takes without having acknowledged them.
    let receiveMaximum: UInt16
    let maximumQoS: UInt8
    /// In bytes; `nil` is no limit beyond that of MQTT.
    let maximumPacketSize: UInt32?
    let retain: Bool
    let wildcardSubscriptions: Bool
    let sharedSubscriptions: Bool
    let subscriptionIdentifiers: Bool
    let topicAliasMaximum: UInt16
    /// In seconds; 0 is that no silence is too long.
    let keepAlive: UInt16
    /// In seconds: how long a session is kept of the time that was asked for.
    let sessionExpiry: UInt32

    init(_ properties: PacketProperties, askedKeepAlive: UInt16, askedSessionExpiry: UInt32) {
        receiveMaximum = properties.receiveMaximum ?? .max
        maximumQoS = (properties.maximumQoS ?? .exactlyOnce).rawValue
        maximumPacketSize = properties.maximumPacketSize
        retain = properties.retainAvailable ?? true
        wildcardSubscriptions = properties.wildcardSubscriptionAvailable ?? true
        sharedSubscriptions = properties.sharedSubscriptionAvailable ?? true
        subscriptionIdentifiers = properties.subscriptionIdentifiersAvailable ?? true
        topicAliasMaximum = properties.topicAliasMaximum ?? 0
        keepAlive = properties.serverKeepAlive ?? askedKeepAlive
        sessionExpiry = properties.sessionExpiryInterval ?? askedSessionExpiry
    }

    /// A finding for each.
    func findings(askedKeepAlive: UInt16, askedSessionExpiry: UInt32) -> [Finding] {
        func allowed(_ isAllowed: Bool, _ what: String) -> Finding {
            isAllowed
                ? .good(.limits, "\(what): yes") : .notice(.limits, "\(what): no", "Do without them with this broker.")
        }
        return [
            .good(.limits, "receive maximum: \(receiveMaximum) unacknowledged messages"),
            maximumQoS == 2
                ? .good(.limits, "maximum QoS: 2")
                : .notice(.limits, "maximum QoS: \(maximumQoS)", "Publish with QoS \(maximumQoS) at most."),
            .good(.limits, "packet size: \(maximumPacketSize.map { "at most \($0) bytes" } ?? "no limit announced")"),
            allowed(retain, "retained messages"), allowed(wildcardSubscriptions, "wildcards in subscriptions"),
            allowed(sharedSubscriptions, "shared subscriptions"),
            allowed(subscriptionIdentifiers, "subscription identifiers"),
            .good(.limits, "topic aliases: \(topicAliasMaximum == 0 ? "none" : "\(topicAliasMaximum)")"),
            keepAlive == askedKeepAlive
                ? .good(.limits, "keep-alive: the client's own")
                : .notice(.limits, "keep-alive: the broker wants \(keepAlive) seconds in place of the client's own"),
            sessionExpiry >= askedSessionExpiry
                ? .good(.limits, "session expiry: a day or longer")
                : .notice(
                    .limits, "session expiry: a session is kept for \(sessionExpiry) seconds at most",
                    "A client that is away longer loses what was sent to it meanwhile."),
        ]
    }
}
