import CourierCore

/// Recent copies of messages. A message with the same topic and payload that arrives for other subscriptions is another copy of
/// the same message.
///
/// A value without locks and clocks.
struct RecentCopies {
    /// How many messages are remembered, 256: brokers send the copies of a message one after the other, but those of
    /// QoS 0 may come before others that have to wait.
    static let limit = 256

    /// How many subscriptions are remembered of one message, 1,024.
    static let subscriptionLimit = 1_024

    private struct Key: Hashable {
        let topic: String
        let payload: Int
        let byteCount: Int
    }

    /// By message, the subscriptions that its copies came for.
    private var copies: [Key: Set<UInt32>] = [:]
    /// The messages in the order in which they came, as a ring.
    private var keys: [Key] = []
    private var oldest = 0

    /// Records a copy of a message; returns whether it is a duplicate.
    mutating func isTwin(_ topic: String, _ payload: RawSpan, for subscriptions: [UInt32]) -> Bool {
        var hasher = Hasher()
        payload.withUnsafeBytes { hasher.combine(bytes: $0) }
        let key = Key(topic: topic, payload: hasher.finalize(), byteCount: payload.byteCount)
        guard let index = copies.index(forKey: key) else {
            keep(key, Set(subscriptions))
            return false
        }
        // A copy for the same subscription is a new message.
        let isTwin =
            copies.values[index].count + subscriptions.count <= Self.subscriptionLimit
            && copies.values[index].isDisjoint(with: subscriptions)
        if !isTwin { copies.values[index].removeAll() }
        copies.values[index].formUnion(subscriptions)
        return isTwin
    }

    private mutating func keep(_ key: Key, _ subscriptions: Set<UInt32>) {
        copies[key] = subscriptions
        if keys.count < Self.limit {
            keys.append(key)
        } else {
            copies[keys[oldest]] = nil
            keys[oldest] = key
            oldest = (oldest + 1) % Self.limit
        }
    }
}
