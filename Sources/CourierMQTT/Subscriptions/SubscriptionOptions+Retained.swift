import CourierCore
import MQTTCodec

/// Decides for which filters the client requests retained messages, for example when it subscribes again.
extension SubscriptionOptions {
    /// Returns the entry of a filter in a SUBSCRIBE packet. If `isRenewal` is true, the session already has the
    /// subscription, and no retained messages are requested.
    func entry(
        for filter: TopicFilter, _ qos: QoS, in version: ProtocolVersion, isRenewal: Bool = false
    ) -> Subscription {
        guard version >= .v5 else { return Subscription(filter.string, qos: PacketQoS(qos)) }
        return Subscription(
            filter.string, qos: PacketQoS(qos), isNoLocal: leavesOutOwnMessages && filter.shareGroup == nil,
            isRetainAsPublished: keepsRetainFlag,
            retainHandling: isRenewal && retainedMessages == .always ? .sendIfNew : retainHandling)
    }

    /// Returns true if the broker will probably send retained messages after the next SUBSCRIBE for a filter. The
    /// client decides this from its options and the state that the broker has confirmed.
    func bringsRetained(_ entry: SubscriptionEntry, in version: ProtocolVersion) -> Bool {
        // Shared subscriptions get no retained messages (MQTT 5.0 §4.8.2).
        guard entry.filter.shareGroup == nil else { return false }
        // With MQTT 3.1.1, the broker sends retained messages after each SUBSCRIBE ([MQTT-3.8.4-3]).
        guard version >= .v5 else { return true }
        return switch retainedMessages {
        case .always: !entry.isRenewal
        case .ofNewSubscriptions: entry.confirmed == .absent  // [MQTT-3.3.1-10]
        case .never: false  // [MQTT-3.3.1-11]
        }
    }

    /// Returns true if the retain flag of a received message means that the broker has retained the message. In MQTT 5,
    /// ``keepsRetainFlag`` makes the result false. Then each message keeps the flag of its publisher, although the
    /// broker retains only the last message of a topic.
    func areFlaggedKept(in version: ProtocolVersion) -> Bool { version < .v5 || !keepsRetainFlag }

    private var retainHandling: Subscription.RetainHandling {
        switch retainedMessages {
        case .always: .send
        case .ofNewSubscriptions: .sendIfNew
        case .never: .doNotSend
        }
    }
}
