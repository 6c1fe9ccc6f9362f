import MQTTCodec

/// The limits that a broker announces in its MQTT 5 CONNACK. An absent property has its default value from the
/// specification (3.2.2.3).
struct AnnouncedLimits: Hashable, Encodable, Sendable {
    /// The maximum number of unacknowledged QoS 1 and 2 messages that the broker accepts.
    let receiveMaximum: UInt16
    let maximumQoS: UInt8
    /// The maximum packet size in bytes, or `nil` if only the limit of MQTT itself applies.
    let maximumPacketSize: UInt32?
    let retain: Bool
    let wildcardSubscriptions: Bool
    let sharedSubscriptions: Bool
    let subscriptionIdentifiers: Bool
    let topicAliasMaximum: UInt16
    /// The keep-alive in seconds; 0 means that the broker never closes a silent connection.
    let keepAlive: UInt16
    /// The time in seconds for which the broker keeps a session. It may be shorter than requested.
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

    /// Returns one finding for each limit.
    func findings(askedKeepAlive: UInt16, askedSessionExpiry: UInt32) -> [Finding] {
        func allowed(_ isAllowed: Bool, _ what: String) -> Finding {
            isAllowed
                ? .good(.limits, "\(what): yes")
                : .notice(.limits, "\(what): no", "Do not use this feature with this broker.")
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
                ? .good(.limits, "keep-alive: the broker accepts the client's value")
                : .notice(
                    .limits, "keep-alive: the broker requires \(keepAlive) seconds instead of the client's value"),
            sessionExpiry >= askedSessionExpiry
                ? .good(.limits, "session expiry: the broker keeps a session for a day or longer")
                : .notice(
                    .limits, "session expiry: the broker keeps a session for at most \(sessionExpiry) seconds",
                    "A client that is offline for more than \(sessionExpiry) seconds loses its messages."),
        ]
    }
}
