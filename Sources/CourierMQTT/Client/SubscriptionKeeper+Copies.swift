import CourierCore
import MQTTCodec

/// Matches received messages with subscriptions, because the broker may send several copies of a message.
extension SubscriptionKeeper {
    /// Decides whether the reader of `filter` takes this copy of a message. `copy` holds the subscription identifiers
    /// in the received PUBLISH. See ``SubscriptionSet/claim(of:on:)``.
    func claim(of filter: TopicFilter?, on copy: [UInt32]) -> SubscriptionSet.Claim {
        filters.claim(of: filter, on: copy)
    }

    /// Returns the subscription identifiers in `copy` that the app has chosen. `copy` holds all subscription
    /// identifiers in a received PUBLISH.
    func chosenIdentifiers(of copy: [UInt32]) -> [UInt32] { filters.chosenIdentifiers(of: copy) }

    /// The sequence number of the last SUBSCRIBE or UNSUBSCRIBE. Later packets have higher numbers.
    var lastRequest: UInt64 { filters.lastRequest }

    /// True if the SUBSCRIBE for a reader makes the broker send the topic's retained message. `last` is the number of
    /// the last SUBSCRIBE or UNSUBSCRIBE before the reader was added. See
    /// ``SubscriptionSet/bringsRetained(on:to:after:_:in:)``.
    func bringsRetained(on topic: TopicName, to filter: TopicFilter?, after last: UInt64) -> Bool {
        filters.bringsRetained(on: topic, to: filter, after: last, options, in: driver.protocolVersion)
    }

    /// True if the retain flag of a received message means that the broker has stored the message as the topic's
    /// retained message. False for MQTT 5 with the option `keepsRetainFlag`. With this option, new messages may have
    /// the flag, too.
    var areFlaggedKept: Bool { options.areFlaggedKept(in: driver.protocolVersion) }
}
