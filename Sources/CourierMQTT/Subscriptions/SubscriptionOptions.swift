public import CourierCore
import MQTTCodec

/// Options of each subscription (MQTT 5.0 §3.8.3.1). Earlier versions of MQTT do not have them.
///
/// ```swift
/// config.session.subscriptionOptions.retainedMessages = .ofNewSubscriptions
/// ```
public struct SubscriptionOptions: Hashable, Sendable {
    /// When the broker sends the messages that it has kept.
    public enum RetainedMessages: Hashable, Sendable {
        /// At every subscription, also a repeated one of the same filter.
        case always

        /// At a subscription that the session does not have yet.
        case ofNewSubscriptions

        /// Not at all.
        case never
    }

    /// When the broker sends the messages that it has kept; ``RetainedMessages/always`` by default.
    public var retainedMessages: RetainedMessages

    /// Whether messages keep the retain flag with which they were published; `false` by default: then they have it when
    /// the broker had kept them, and not when they are fresh. With it the flag does not say whether the broker has the
    /// message still, so that one which a reader leaves counts as not retained.
    public var keepsRetainFlag: Bool

    /// Whether the broker does not send this client its own messages; `false` by default. It is not used for shared
    /// subscriptions, because MQTT forbids it [MQTT-3.8.3-4].
    public var leavesOutOwnMessages: Bool

    /// The subscription identifier of each SUBSCRIBE, from 1 to 268,435,455; `nil`, the default, leaves it to the client.
    /// ``CourierCore/SubscriptionRequest/identifier`` is for a single filter, and takes precedence.
    ///
    /// With one identifier for all filters, a message may arrive once for each filter that matches it, as in MQTT 3.1.1.
    public var identifier: UInt32?

    /// The user properties of each SUBSCRIBE, in this order; empty by default, at most 256. Properties of a
    /// ``CourierCore/SubscriptionRequest`` take precedence.
    public var userProperties: [UserProperty]

    /// Makes options. The defaults are the behavior of MQTT 3.1.1.
    ///
    /// - Parameters:
    ///   - retainedMessages: When the broker sends retained messages; always by default.
    ///   - keepsRetainFlag: Whether messages keep the retain flag; `false` by default.
    ///   - leavesOutOwnMessages: Whether the broker does not send the client its own messages; `false` by default.
    ///   - identifier: The subscription identifier; the client's choice by default.
    ///   - userProperties: The user properties; none by default.
    public init(
        retainedMessages: RetainedMessages = .always, keepsRetainFlag: Bool = false,
        leavesOutOwnMessages: Bool = false, identifier: UInt32? = nil, userProperties: [UserProperty] = []
    ) {
        self.retainedMessages = retainedMessages
        self.keepsRetainFlag = keepsRetainFlag
        self.leavesOutOwnMessages = leavesOutOwnMessages
        self.identifier = identifier
        self.userProperties = userProperties
    }

    /// The properties of the SUBSCRIBE of filters that have none of their own.
    var properties: SubscriptionProperties {
        SubscriptionProperties(identifier: identifier, userProperties: userProperties)
    }

    /// Makes sure that MQTT 5 can carry the properties.
    ///
    /// - Throws: ``CourierError/Code/invalidConfiguration`` with the problem.
    func check(_ texts: WireText) throws(CourierError) {
        guard let problem = properties.problem(texts) else { return }
        throw CourierError(
            .invalidConfiguration, "The SUBSCRIBE of the option `session.subscriptionOptions` \(problem).")
    }

    /// The entry of a SUBSCRIBE for a filter. With `isRenewal`, the session has the filter, and no retained messages are
    /// requested.
    func entry(
        for filter: TopicFilter, _ qos: QoS, in version: ProtocolVersion, isRenewal: Bool = false
    ) -> Subscription {
        guard version >= .v5 else { return Subscription(filter.string, qos: PacketQoS(qos)) }
        return Subscription(
            filter.string, qos: PacketQoS(qos), isNoLocal: leavesOutOwnMessages && filter.shareGroup == nil,
            isRetainAsPublished: keepsRetainFlag,
            retainHandling: isRenewal && retainedMessages == .always ? .sendIfNew : retainHandling)
    }

    /// Whether the broker answers the next SUBSCRIBE for a filter by the messages that it has kept, as far as is known.
    func bringsRetained(_ entry: SubscriptionEntry, in version: ProtocolVersion) -> Bool {
        guard entry.filter.shareGroup == nil else { return false }  // MQTT 5.0 §4.8.2.
        guard version >= .v5 else { return true }  // 3.1.1 [MQTT-3.8.4-3]: each time.
        return switch retainedMessages {
        case .always: !entry.isRenewal
        case .ofNewSubscriptions: entry.confirmed == .absent  // [MQTT-3.3.1-10]
        case .never: false  // [MQTT-3.3.1-11]
        }
    }

    /// Whether the retain flag of a message means that the broker keeps the message. With ``keepsRetainFlag``, fresh messages
    /// have the flag, too, and the broker keeps only the last one.
    func areFlaggedKept(in version: ProtocolVersion) -> Bool { version < .v5 || !keepsRetainFlag }

    private var retainHandling: Subscription.RetainHandling {
        switch retainedMessages {
        case .always: .send
        case .ofNewSubscriptions: .sendIfNew
        case .never: .doNotSend
        }
    }
}
