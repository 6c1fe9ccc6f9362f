import CourierCore
import MQTTCodec

/// The retained messages that a broker sends when a filter is subscribed to, for each filter by itself.
extension SubscriptionSet {
    /// Records for which filters of a SUBSCRIBE the broker sends retained messages.
    mutating func noteRetained(_ id: RequestID, _ options: SubscriptionOptions, in version: ProtocolVersion) {
        for place in pending[id]?.entries ?? [] {
            guard let entry = entries[place], options.bringsRetained(entry, in: version) else { continue }
            entries[place]?.lastRetained = id.rawValue
        }
    }

    /// Whether the broker sends a retained message to a reader: a SUBSCRIBE that requests retained messages of its topic was sent
    /// after the reader was added, or will be.
    ///
    /// - Parameters:
    ///   - topic: The topic of the message.
    ///   - filter: The filter of the reader; `nil` for every topic.
    ///   - last: The last request before the reader was added.
    ///   - options: The options of each subscription.
    ///   - version: The version of MQTT that the broker speaks.
    /// - Returns: Whether the broker sends it.
    func bringsRetained(
        on topic: TopicName, to filter: TopicFilter?, after last: UInt64, _ options: SubscriptionOptions,
        in version: ProtocolVersion
    ) -> Bool {
        guard lastRequest > last || support == nil || queue.first != nil || !pending.isEmpty else { return false }
        let isBrought = { (entry: SubscriptionEntry?) -> Bool in
            guard let entry else { return false }
            let identifier: UInt32?
            if entry.lastRetained > last {
                identifier = entry.identifierInFlight
            } else {
                let next = entry.fulfilled
                guard case .subscribe? = next.due, options.bringsRetained(next, in: version) else { return false }
                identifier = entry.identifier
            }
            return entry.filter.matches(topic) && claim(of: filter, on: identifier.map { [$0] } ?? []) != .left
        }
        // Its own is the likely one, and there may be many.
        if let filter, let place = places[filter], isBrought(entries[place]) { return true }
        return entries.contains(where: isBrought)
    }
}
