import CourierCore

/// The copies of a message that a broker sends when several subscriptions match it.
extension SubscriptionSet {
    /// The identifiers of a copy that the app chose.
    func chosenIdentifiers(of copy: [UInt32]) -> [UInt32] {
        guard let identifiers else { return [] }
        return copy.filter { identifiers.isChosen($0) }
    }

    /// A reader's claim on one copy of a message.
    enum Claim {
        /// It is the reader's.
        case taken
        /// Another copy is the reader's.
        case left
        /// The reader takes the first copy that comes, whichever that is.
        case first
    }

    /// Decides whether a reader takes a copy that arrived for these subscriptions.
    ///
    /// A reader whose subscription has an identifier at the broker takes the copy with this identifier only. Other readers cannot
    /// know which copies arrive. A message of a shared subscription has no other copy for this client.
    ///
    /// - Parameters:
    ///   - filter: The filter of the reader; `nil` for every topic.
    ///   - copy: The identifiers of the subscriptions that the copy is for.
    /// - Returns: Whether the reader takes it.
    func claim(of filter: TopicFilter?, on copy: [UInt32]) -> Claim {
        guard let identifiers else { return .first }
        let others: Claim = copy.contains { identifiers.isShared($0) } ? .taken : .first
        // If several filters share an identifier, the client cannot tell their copies apart.
        guard let filter, let own = identifiers[filter], !identifiers.isAmbiguous(own) else { return others }
        if copy.contains(own) { return .taken }
        guard let place = places[filter], let entry = entries[place], case .subscribed = entry.confirmed,
            entry.confirmedIdentifier == own, copy.contains(where: { identifiers.isKnown($0) })
        else { return others }
        return .left
    }
}
