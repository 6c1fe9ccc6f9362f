import CourierCore
import MQTTCodec

/// What the subscriptions say about received messages.
extension SubscriptionKeeper {
    /// What a reader makes of one copy of a message; see ``SubscriptionSet/claim(of:on:)``.
    func claim(of filter: TopicFilter?, on copy: [UInt32]) -> SubscriptionSet.Claim {
        filters.claim(of: filter, on: copy)
    }

    /// The identifiers of a copy that the app chose.
    func chosenIdentifiers(of copy: [UInt32]) -> [UInt32] { filters.chosenIdentifiers(of: copy) }

    /// The last request so far, by which later ones are known.
    var lastRequest: UInt64 { filters.lastRequest }

    /// Whether the broker sends a reader a retained message by itself; see
    /// ``SubscriptionSet/bringsRetained(on:to:after:_:in:)``.
    func bringsRetained(on topic: TopicName, to filter: TopicFilter?, after last: UInt64) -> Bool {
        filters.bringsRetained(on: topic, to: filter, after: last, options, in: driver.protocolVersion)
    }

    /// Whether messages with the retain flag are those that the broker has kept.
    var areFlaggedKept: Bool { options.areFlaggedKept(in: driver.protocolVersion) }
}
