import CourierCore

/// Remembers recent messages to detect copies. If a message with the same topic and payload arrives for other
/// subscriptions, it is a copy of the same message.
///
/// A value type that uses no lock and no clock.
struct RecentCopies {
    /// The largest number of remembered messages, 256. Brokers send the copies of a message one after another, but
    /// copies of QoS 0 may arrive before copies that must wait.
    static let limit = 256

    /// The largest number of subscriptions that are remembered for one message, 1,024.
    static let subscriptionLimit = 1_024

    private struct Key: Hashable {
        let topic: String
        let payload: Int
        let byteCount: Int
    }

    /// For each message, the identifiers of the subscriptions that its copies arrived for.
    private var copies: [Key: Set<UInt32>] = [:]
    /// The messages in the order of their arrival, as a ring buffer that starts at `oldest`.
    private var keys: [Key] = []
    private var oldest = 0

    /// Records a copy of a message. Returns `true` if it duplicates an earlier copy.
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
