public import CourierCore
import MQTTCodec

/// Options of each subscription (MQTT 5.0 §3.8.3.1). Earlier versions of MQTT do not have them.
///
/// ```swift
/// config.session.subscriptionOptions.retainedMessages = .ofNewSubscriptions
/// ```
public struct SubscriptionOptions: Hashable, Sendable {
    /// The rule for sending retained messages after a SUBSCRIBE.
    public enum RetainedMessages: Hashable, Sendable {
        /// The broker sends retained messages after every SUBSCRIBE, even if the session already has the subscription.
        case always

        /// The broker sends retained messages only after a SUBSCRIBE for a subscription that the session does not have
        /// yet.
        case ofNewSubscriptions

        /// The broker never sends retained messages for the subscription.
        case never
    }

    /// The rule by which the broker sends retained messages for a subscription; ``RetainedMessages/always`` by default.
    public var retainedMessages: RetainedMessages

    /// Whether received messages keep the retain flag with which they were published; `false` by default.
    ///
    /// If `false`, only messages that the broker had retained before the SUBSCRIBE have the flag. If `true`, new
    /// messages keep the flag, too. Then the flag does not show whether the broker still has the message. So the client
    /// treats messages that a reader left unread as not retained.
    public var keepsRetainFlag: Bool

    /// Whether the broker leaves out messages that this client published (No Local); `false` by default. The option is
    /// not used for shared subscriptions, because MQTT forbids it [MQTT-3.8.3-4].
    public var leavesOutOwnMessages: Bool

    /// The subscription identifier of each SUBSCRIBE, from 1 to 268,435,455. With `nil`, the default, the client
    /// chooses identifiers. ``CourierCore/SubscriptionRequest/identifier`` sets the identifier of a single filter, and
    /// takes precedence.
    ///
    /// If all filters have the same identifier, the client cannot tell which filter a copy of a message is for. So a
    /// message may arrive once for each filter that matches it, as in MQTT 3.1.1.
    public var identifier: UInt32?

    /// The user properties of each SUBSCRIBE, in this order; empty by default, at most 256. Properties of a
    /// ``CourierCore/SubscriptionRequest`` take precedence.
    public var userProperties: [UserProperty]

    /// Makes options. The defaults are the behavior of MQTT 3.1.1.
    ///
    /// - Parameters:
    ///   - retainedMessages: The rule by which the broker sends retained messages; always by default.
    ///   - keepsRetainFlag: Whether messages keep the retain flag; `false` by default.
    ///   - leavesOutOwnMessages: Whether the broker leaves out messages that this client published; `false` by default.
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

    /// The SUBSCRIBE properties of filters without properties of their own.
    var properties: SubscriptionProperties {
        SubscriptionProperties(identifier: identifier, userProperties: userProperties)
    }

    /// Checks that MQTT 5 can carry the properties.
    ///
    /// - Throws: ``CourierError/Code/invalidConfiguration`` with the problem.
    func check(_ texts: WireText) throws(CourierError) {
        guard let problem = properties.problem(texts) else { return }
        throw CourierError(
            .invalidConfiguration, "The SUBSCRIBE of the option `session.subscriptionOptions` \(problem).")
    }
}
