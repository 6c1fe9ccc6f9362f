import CourierCore

/// Assigns the copies of a message to readers. A broker may send one copy for each subscription that matches the
/// message.
extension SubscriptionSet {
    /// Returns the identifiers in one copy of a message, without the identifiers that the client assigned. The result
    /// contains only identifiers that the app chose.
    func chosenIdentifiers(of copy: [UInt32]) -> [UInt32] {
        guard let identifiers else { return [] }
        return copy.filter { identifiers.isChosen($0) }
    }

    /// The decision whether a reader takes one copy of a message.
    enum Claim {
        /// The reader takes this copy.
        case taken
        /// The reader does not take this copy, because the broker sends another copy for this reader.
        case left
        /// The reader takes the copy only if it is the first copy that arrives.
        case first
    }

    /// Decides whether a reader takes a copy that arrived for these subscriptions.
    ///
    /// If the broker has confirmed an identifier for the reader's subscription, the reader takes only the copy with
    /// this identifier. Without a confirmed identifier, the reader takes the first copy, because the client cannot
    /// predict which copies will arrive. Such a reader also takes every copy for a shared subscription, because the
    /// client receives no other copy of that message.
    ///
    /// - Parameters:
    ///   - filter: The filter of the reader; `nil` for every topic.
    ///   - copy: The identifiers of the subscriptions that the copy is for.
    /// - Returns: The decision for this reader and this copy.
    func claim(of filter: TopicFilter?, on copy: [UInt32]) -> Claim {
        guard let identifiers else { return .first }
        let others: Claim = copy.contains { identifiers.isShared($0) } ? .taken : .first
        // If the app chose the reader's identifier for several filters, the identifier does not show for which filter
        // the broker sent this copy of the message. Then the decision is the same as for a reader without an identifier.
        guard let filter, let own = identifiers[filter], !identifiers.isAmbiguous(own) else { return others }
        if copy.contains(own) { return .taken }
        guard let place = places[filter], let entry = entries[place], case .subscribed = entry.confirmed,
            entry.confirmedIdentifier == own, copy.contains(where: { identifiers.isKnown($0) })
        else { return others }
        return .left
    }
}
