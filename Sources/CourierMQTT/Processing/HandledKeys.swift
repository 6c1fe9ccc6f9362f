import MQTTEngine

/// The deduplication keys of messages that were handled, or that wait for their handler. A message with one of these
/// keys is a copy.
struct HandledKeys: Sendable {
    typealias Instant = MonotonicInstant

    /// The time until which the key of a handled message is remembered.
    private var ends: [String: Instant] = [:]
    /// The remembered keys, in the order in which their times end. If a message with the same key is handled again,
    /// `ends` gets a later time, and the older entry is skipped.
    private var order = FirstInFirstOut<(key: String, end: Instant)>()
    /// The keys of waiting messages, and the number of messages with each key.
    private var waiting: [String: Int] = [:]

    /// Returns true if a message with this key was handled, or waits.
    func isCopy(_ key: String, now: Instant) -> Bool {
        waiting[key] != nil || ends[key].map { $0 > now } ?? false
    }

    /// Records that a message with this key waits.
    mutating func began(_ key: String) { waiting[key, default: 0] += 1 }

    /// Records that a message with this key does not wait any more.
    mutating func ended(_ key: String) {
        guard let count = waiting[key] else { return }
        waiting[key] = count == 1 ? nil : count - 1
    }

    /// Remembers the key of a message that was handled at `time`. Returns the keys that are forgotten at the same time:
    /// keys whose `lifetime` has ended, and the oldest keys if there are more than `maximumCount` keys.
    mutating func handled(_ key: String, now time: Instant, _ lifetime: Duration, _ maximumCount: Int) -> [String] {
        let end = time.advanced(by: lifetime.bounded)
        ends[key] = end
        order.append((key, end))
        var forgotten: [String] = []
        while let first = order.first, first.end <= time || ends.count > maximumCount || ends[first.key] != first.end {
            _ = order.removeFirst()
            guard ends[first.key] == first.end else { continue }
            ends[first.key] = nil
            if first.key != key { forgotten.append(first.key) }
        }
        return forgotten
    }
}
