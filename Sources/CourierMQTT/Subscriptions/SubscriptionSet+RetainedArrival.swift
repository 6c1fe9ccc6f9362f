import CourierCore
import MQTTCodec

/// Records, for each filter, whether the broker sends retained messages after a SUBSCRIBE.
extension SubscriptionSet {
    /// Records which filters of a SUBSCRIBE make the broker send retained messages.
    mutating func noteRetained(_ id: RequestID, _ options: SubscriptionOptions, in version: ProtocolVersion) {
        for place in pending[id]?.entries ?? [] {
            guard let entry = entries[place], options.bringsRetained(entry, in: version) else { continue }
            entries[place]?.lastRetained = id.rawValue
        }
    }

    /// Returns true if the broker sends the retained message of a topic to a new reader. The broker sends the message
    /// after a SUBSCRIBE that requests retained messages. The client has sent this SUBSCRIBE since the reader was
    /// added, or will send it.
    ///
    /// - Parameters:
    ///   - topic: The topic of the message.
    ///   - filter: The filter of the reader; `nil` for every topic.
    ///   - last: The id of the last request before the reader was added.
    ///   - options: The options of each subscription.
    ///   - version: The version of MQTT that the broker speaks.
    /// - Returns: Whether the broker has sent or will send the message after the reader was added.
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
        // Check the reader's own filter first. This filter matches most often, and checking all filters may take long.
        if let filter, let place = places[filter], isBrought(entries[place]) { return true }
        return entries.contains(where: isBrought)
    }
}
