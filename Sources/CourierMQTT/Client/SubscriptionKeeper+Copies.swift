import CourierCore
import MQTTCodec

/// Matches received messages with subscriptions.
extension SubscriptionKeeper {
    /// Returns a reader's claim on one copy of a message; see ``SubscriptionSet/claim(of:on:)``.
    func claim(of filter: TopicFilter?, on copy: [UInt32]) -> SubscriptionSet.Claim {
        filters.claim(of: filter, on: copy)
    }

    /// Returns those subscription identifiers of a copy that the app has chosen itself.
    func chosenIdentifiers(of copy: [UInt32]) -> [UInt32] { filters.chosenIdentifiers(of: copy) }

    /// The number of the last SUBSCRIBE or UNSUBSCRIBE. Later packets have higher numbers.
    var lastRequest: UInt64 { filters.lastRequest }

    /// Whether the broker sends a retained message in response to the reader's SUBSCRIBE; see
    /// ``SubscriptionSet/bringsRetained(on:to:after:_:in:)``.
    func bringsRetained(on topic: TopicName, to filter: TopicFilter?, after last: UInt64) -> Bool {
        filters.bringsRetained(on: topic, to: filter, after: last, options, in: driver.protocolVersion)
    }

    /// Whether the retain flag of a message means that the broker keeps the message.
    var areFlaggedKept: Bool { options.areFlaggedKept(in: driver.protocolVersion) }
}
