import CourierCore

/// The copies of a message that a broker sends when several subscriptions match it.
extension SubscriptionSet {
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
    /// can know which copies come.
    ///
    /// - Parameters:
    ///   - filter: What the reader reads; `nil` is everything.
    ///   - copy: The identifiers of the subscriptions that the copy is for.
    /// - Returns: Whether the reader takes it.
    func claim(of filter: TopicFilter?, on copy: [UInt32]) -> Claim {
        guard let filter, let identifiers, let own = identifiers[filter], let place = places[filter],
            let entry = entries[place], case .subscribed = entry.confirmed, entry.confirmedIdentifier == own
        else { return .first }
        if copy.contains(own) { return .taken }
        return copy.contains { identifiers.isKnown($0) } ? .left : .first
    }
}
