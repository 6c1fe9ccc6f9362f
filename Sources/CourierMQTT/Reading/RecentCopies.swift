import CourierCore

/// Remembers recent messages to detect copies, because a broker may send one copy of a message for each matching
/// subscription. A message counts as a copy of an earlier message if both have the same topic and payload, but arrived
/// for different subscriptions.
///
/// This struct uses no lock and reads no clock.
struct RecentCopies {
    /// The largest number of remembered messages, 256. One remembered message is not enough, because other messages may
    /// arrive between two copies of a message. For example, a copy of QoS 1 or 2 may have to wait at the broker.
    static let limit = 256

    /// The largest number of subscriptions that are remembered for one message, 1,024.
    static let subscriptionLimit = 1_024

    /// Identifies a message by its topic, and by the hash and the size of its payload.
    private struct Key: Hashable {
        let topic: String
        let payload: Int
        let byteCount: Int
    }

    /// For each message, the identifiers of the subscriptions for which copies have arrived.
    private var copies: [Key: Set<UInt32>] = [:]
    /// The messages in the order of their arrival, as a ring buffer that starts at `oldest`.
    private var keys: [Key] = []
    private var oldest = 0

    /// Records a message or a copy of it. Returns `true` if the message is a copy of an earlier message.
    mutating func isTwin(_ topic: String, _ payload: RawSpan, for subscriptions: [UInt32]) -> Bool {
        var hasher = Hasher()
        payload.withUnsafeBytes { hasher.combine(bytes: $0) }
        let key = Key(topic: topic, payload: hasher.finalize(), byteCount: payload.byteCount)
        guard let index = copies.index(forKey: key) else {
            keep(key, Set(subscriptions))
            return false
        }
        // The broker sends at most one copy for each subscription. So if a copy for the same subscription has already
        // arrived, this message is a new message with the same contents.
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
