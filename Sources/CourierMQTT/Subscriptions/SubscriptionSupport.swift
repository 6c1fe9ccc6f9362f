import CourierCore
import MQTTCodec

/// The features of subscriptions that a broker supports on one connection.
struct SubscriptionSupport: Hashable, Sendable {
    /// The maximum size of a packet that the broker accepts; no limit by default.
    var maximumPacketSize = Int.max
    /// Whether subscriptions may have identifiers; `false` by default.
    var hasIdentifiers = false
    /// Whether packets have properties, as in MQTT 5; `true` by default. If `false`, the app's properties are not sent.
    var hasProperties = true
    /// Whether filters may have wildcards; `true` by default.
    var hasWildcards = true
    /// Whether the broker supports shared subscriptions, which are filters with a share group; `true` by default.
    var hasSharedSubscriptions = true

    /// Returns the reason why a request must not be sent; `nil` if it may be sent. UNSUBSCRIBE may be sent even for a
    /// filter that the broker does not support any more.
    func failure(of request: SubscriptionEntry.Request, for entry: SubscriptionEntry) -> SubscriptionAction.Failure? {
        if SubscriptionBatch.size(ofPacketWith: request, for: entry) > maximumPacketSize { return .notSent }
        guard request != .unsubscribe else { return nil }
        if hasProperties, !hasIdentifiers, entry.properties.identifier != nil {
            return .refused(.subscriptionIdentifiersNotSupported)
        }
        if !hasWildcards, entry.filter.hasWildcard { return .refused(.wildcardSubscriptionsNotSupported) }
        if !hasSharedSubscriptions, entry.filter.shareGroup != nil {
            return .refused(.sharedSubscriptionsNotSupported)
        }
        return nil
    }
}

extension SubscriptionSupport {
    /// Reads the features from CONNACK. Before MQTT 5, CONNACK has no information about subscriptions. The defaults
    /// then remain, except that packets have no properties.
    init(_ connAck: ConnAck, in version: ProtocolVersion) {
        guard version >= .v5 else {
            hasProperties = false
            return
        }
        let properties = connAck.properties
        maximumPacketSize = properties.maximumPacketSize.map { Int($0) } ?? .max
        hasIdentifiers = properties.subscriptionIdentifiersAvailable ?? true
        hasWildcards = properties.wildcardSubscriptionAvailable ?? true
        hasSharedSubscriptions = properties.sharedSubscriptionAvailable ?? true
    }
}
