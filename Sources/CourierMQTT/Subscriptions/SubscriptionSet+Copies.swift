import CourierCore

/// The copies of a message that a broker sends when several subscriptions match it.
extension SubscriptionSet {
    /// The identifiers of a copy that the app chose.
    func chosenIdentifiers(of copy: [UInt32]) -> [UInt32] {
        guard let identifiers else { return [] }
        return copy.filter { identifiers.isChosen($0) }
    }

    /// What a reader makes of one copy of a message.
    enum Claim {
        /// It is the reader's.
        case taken
        /// Another copy is the reader's.
        case left
        /// The reader takes the first copy that comes, whichever that is.
        case first
    }

    /// What a reader makes of a copy that came for these subscriptions.
    ///
    /// Whose subscription has an identifier at the broker gets a copy with that, and leaves the others. Nobody else
    /// can know which copies come. One that comes through a group has no twin: others get what we do not.
    ///
    /// - Parameters:
    ///   - filter: What the reader reads; `nil` is everything.
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
