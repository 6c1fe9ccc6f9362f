/// The last retained message of each topic, within limits.
struct RetainedStore: Sendable {
    typealias Instant = ContinuousClock.Instant

    private struct Entry: Sendable {
        let message: BrokerMessage
        let levels: [ExactText]
        /// A number that increases with each stored message, so that subscribers receive the messages in the order in
        /// which they were stored.
        let order: UInt64
    }

    private let maximumCount: Int
    private let maximumBytes: Int
    private var entries: [ExactText: Entry] = [:]
    private var lastOrder: UInt64 = 0
    private(set) var byteCount = 0

    init(maximumCount: Int, maximumBytes: Int) {
        self.maximumCount = maximumCount
        self.maximumBytes = maximumBytes
    }

    var count: Int { entries.count }

    /// Stores `message` and replaces the previous message of its topic ([MQTT-3.3.1-5]). If the payload is empty, the
    /// previous message is only removed ([MQTT-3.3.1-6], [MQTT-3.3.1-7]).
    ///
    /// - Returns: `false` if the store is full. The previous message of the topic then remains.
    mutating func store(_ message: BrokerMessage, now: Instant) -> Bool {
        let key = ExactText(message.topic)
        guard !message.payload.isEmpty else {
            remove(key)
            return true
        }
        if !hasRoom(for: message, at: key) {
            for (key, entry) in entries where entry.message.isExpired(at: now) { remove(key) }
            guard hasRoom(for: message, at: key) else { return false }
        }
        remove(key)
        lastOrder += 1
        entries[key] = Entry(message: message, levels: ExactText.levels(of: key.bytes), order: lastOrder)
        byteCount += message.byteCount
        return true
    }

    /// Returns the messages that match `filter` and are not expired, oldest first.
    mutating func matches(_ filter: BrokerFilter, now: Instant) -> [BrokerMessage] {
        var matches: [Entry] = []
        if filter.hasWildcard {
            matches = entries.values.filter { filter.matches($0.levels) }.sorted { $0.order < $1.order }
        } else if let entry = entries[ExactText(filter.text)] {
            matches = [entry]
        }
        return matches.compactMap { entry in
            guard entry.message.isExpired(at: now) else { return entry.message }
            remove(ExactText(entry.message.topic))
            return nil
        }
    }

    private func hasRoom(for message: BrokerMessage, at key: ExactText) -> Bool {
        let replaced = entries[key]
        return entries.count - (replaced == nil ? 0 : 1) < maximumCount
            && byteCount - (replaced?.message.byteCount ?? 0) + message.byteCount <= maximumBytes
    }

    private mutating func remove(_ key: ExactText) {
        guard let entry = entries.removeValue(forKey: key) else { return }
        byteCount -= entry.message.byteCount
    }
}
