import CourierCore

/// The copies of a message that a broker sends when several subscriptions match it.
extension SubscriptionSet {
    /// Whether a reader takes this copy of a message; the broker may have sent one for each subscription that matches.
    ///
    /// Who reads a filter with an identifier takes the copies for that. Who has no subscription of its own takes one: that
    /// of the subscription with the highest quality of service.
    ///
    /// - Parameters:
    ///   - filter: What the reader reads; `nil` is everything.
    ///   - copy: The identifiers of the subscriptions that the copy is for.
    ///   - topic: What the message is about.
    ///   - isRetained: Whether the broker sent it because of a new subscription, and so for no other.
    /// - Returns: Whether it is for this reader.
    func takes(_ filter: TopicFilter?, _ copy: [UInt32], of topic: TopicName, isRetained: Bool) -> Bool {
        guard let identifiers, copy.contains(where: { identifiers.isKnown($0) }) else { return true }
        if let filter, let own = identifiers[filter] { return copy.contains(own) }
        return isRetained || first(identifiers, of: topic).map { copy.contains($0) } ?? true
    }

    /// The identifier by which somebody who takes one copy of a message chooses it.
    private func first(_ identifiers: SubscriptionIdentifiers, of topic: TopicName) -> UInt32? {
        identifiers.all.lazy.compactMap { filter, identifier -> (level: UInt8, identifier: UInt32)? in
            guard let place = places[filter], let entry = entries[place], entry.wanted != nil,
                entry.confirmedIdentifier == identifier, case .subscribed(_, let granted) = entry.confirmed,
                filter.matches(topic)
            else { return nil }
            return (granted.wireLevel, identifier)
        }.max { ($0.level, $1.identifier) < ($1.level, $0.identifier) }?.identifier
    }
}
