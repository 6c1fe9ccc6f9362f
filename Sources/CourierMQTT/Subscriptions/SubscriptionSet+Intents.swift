import CourierCore

/// Adds and removes the filters that the app and its readers want, and the callers that wait for answers.
extension SubscriptionSet {
    /// One filter to subscribe to.
    struct Intent: Sendable {
        let filter: TopicFilter
        let qos: QoS
        /// The unique id of the waiting caller; `nil` if no caller waits.
        let waiter: UInt64?
        /// The properties for the SUBSCRIBE. With `nil`, a known filter keeps its properties, and a new filter gets the
        /// defaults.
        let properties: SubscriptionProperties?

        init(
            _ filter: TopicFilter, _ qos: QoS, properties: SubscriptionProperties? = nil, waiter: UInt64? = nil
        ) {
            self.filter = filter
            self.qos = qos
            self.properties = properties
            self.waiter = waiter
        }
    }

    /// One filter to unsubscribe from.
    struct IntentRemoval: Sendable {
        let filter: TopicFilter
        /// The unique id of the waiting caller; `nil` if no caller waits.
        let waiter: UInt64?
        /// The user properties of the UNSUBSCRIBE.
        let userProperties: [UserProperty]

        init(_ filter: TopicFilter, userProperties: [UserProperty] = [], waiter: UInt64? = nil) {
            self.filter = filter
            self.userProperties = userProperties
            self.waiter = waiter
        }
    }

    /// Restores the stored subscriptions, before the first connection. Limits do not apply, so no subscription is lost.
    /// Calls that the app has already made in this process take precedence.
    ///
    /// - Parameter subscriptions: The stored subscriptions.
    /// - Returns: The actions to perform.
    mutating func restore(_ subscriptions: [StoredSubscription]) -> [Action] {
        var actions: [Action] = []
        for subscription in subscriptions {
            let place = place(for: subscription.filter)
            let isUnwanted = entries[place]?.confirmed == .unknown
            entries[place]?.confirmed = .unknown
            if case .subscribed(let qos) = subscription.intent, !isUnwanted, entries[place]?.appIntent == nil {
                entries[place]?.appIntent = qos.asSubscribed
            }
            // If the app has already unsubscribed in this process (`isUnwanted`), the store may still contain the
            // former intent. In this case, treat the stored intent as unknown, so that the present intent is written to
            // the store.
            entries[place]?.stored = isUnwanted ? nil : subscription.intent
            changed(place, &actions)
        }
        return actions
    }

    /// Adds filters that an owner (the app or a reader) wants. A new quality of service replaces the owner's old
    /// quality of service.
    ///
    /// - Parameters:
    ///   - intents: The filters, each with its waiting caller.
    ///   - owner: The owner.
    ///   - now: The current time.
    /// - Returns: The actions to perform.
    /// - Throws: ``CourierError/Code-swift.struct/queueFull`` if a limit would be exceeded. In this case, nothing has
    ///   changed.
    mutating func want(_ intents: [Intent], by owner: IntentOwner, now: Instant) throws -> [Action] {
        try checkRoom(for: intents.map(\.filter))
        try checkWaiters(intents.count { $0.waiter != nil })
        var actions: [Action] = []
        for intent in intents {
            let place = place(for: intent.filter)
            let qos = intent.qos.asSubscribed
            choose(intent.properties, at: place)
            switch owner {
            case .app: entries[place]?.appIntent = qos
            case .reader(let id): entries[place]?.readerIntents[id] = qos
            }
            if let waiter = intent.waiter { add(waiter, .subscribe(qos), at: place) }
            changed(place, &actions)
        }
        send(now, &actions)
        return actions
    }

    /// Removes filters that an owner (the app or a reader) does not want any more. If other owners want a filter, it
    /// stays subscribed with the highest quality of service that they want. For a filter of the app, UNSUBSCRIBE is
    /// also sent if the broker may have a subscription that this set does not contain.
    ///
    /// - Parameters:
    ///   - filters: The filters, each with its waiting caller.
    ///   - owner: The owner.
    ///   - now: The current time.
    /// - Returns: The actions to perform.
    /// - Throws: ``CourierError/Code-swift.struct/queueFull`` if a limit would be exceeded. In this case, nothing has
    ///   changed.
    mutating func unwant(
        _ filters: [(filter: TopicFilter, waiter: UInt64?)], by owner: IntentOwner, now: Instant
    ) throws -> [Action] {
        try unwant(filters.map { IntentRemoval($0.filter, waiter: $0.waiter) }, by: owner, now: now)
    }

    /// Removes filters that an owner does not want any more, with user properties for the UNSUBSCRIBE of each filter.
    mutating func unwant(_ removals: [IntentRemoval], by owner: IntentOwner, now: Instant) throws -> [Action] {
        let mayBeLeft = owner == .app && !knowsSession
        if mayBeLeft { try checkRoom(for: removals.map(\.filter)) }
        try checkWaiters(removals.count { $0.waiter != nil })
        var actions: [Action] = []
        for removal in removals {
            let waiter = removal.waiter
            guard let place = places[removal.filter] ?? (mayBeLeft ? place(for: removal.filter) : nil) else {
                if let waiter { actions.append(.waiter(waiter, .unsubscribed)) }
                continue
            }
            switch owner {
            case .app:
                entries[place]?.appIntent = nil
                // An earlier process or another client may have left the subscription in the session, so its state at
                // the broker is unknown.
                if mayBeLeft, entries[place]?.confirmed == .absent { entries[place]?.confirmed = .unknown }
            case .reader(let id): entries[place]?.readerIntents[id] = nil
            }
            if !removal.userProperties.isEmpty { entries[place]?.endProperties = removal.userProperties }
            if let waiter {
                if entries[place]?.wanted == nil {
                    add(waiter, .unsubscribe, at: place)
                } else {
                    actions.append(.waiter(waiter, .unsubscribed))
                }
            }
            changed(place, &actions)
        }
        send(now, &actions)
        return actions
    }

    /// Makes a reader's filter a subscription of the app, with at least the reader's quality of service.
    ///
    /// - Parameters:
    ///   - filter: The filter.
    ///   - id: The id of the reader.
    /// - Returns: The actions to perform.
    mutating func takeOver(_ filter: TopicFilter, of id: UInt64) -> [Action] {
        guard let place = places[filter], let entry = entries[place], let qos = entry.readerIntents[id] else {
            return []
        }
        let intents = [entry.appIntent, qos].compactMap(\.self)
        entries[place]?.appIntent = intents.max { $0.wireLevel < $1.wireLevel }
        var actions: [Action] = []
        changed(place, &actions)
        return actions
    }

    /// Sets the properties of a filter. If `properties` is `nil`, a new filter gets the defaults, and a known filter
    /// keeps its properties.
    private mutating func choose(_ properties: SubscriptionProperties?, at place: Int) {
        guard let entry = entries[place] else { return }
        let chosen = properties ?? (entry.wanted == nil ? defaults : entry.properties)
        guard chosen != entry.properties else { return }
        entries[place]?.properties = chosen
        guard chosen.identifier != entry.properties.identifier else { return }
        identifiers?.remove(entry.filter)
        entries[place]?.identifier = nil
        entries[place]?.isCompared = false
    }

    /// Removes a caller that does not wait for a filter any more. Does not change which owners want the filter.
    mutating func forget(waiter id: UInt64, of filter: TopicFilter) {
        guard let place = places[filter], var entry = entries[place] else { return }
        let before = entry.waiters.count
        entry.waiters.removeAll { $0.id == id }
        waiterCount -= before - entry.waiters.count
        entries[place] = entry
        removeIfSpent(place)
    }

    /// Ends the wait of all callers with the result `abandoned`, because the client ends. Returns the actions to
    /// perform.
    mutating func abandonWaiters() -> [Action] {
        var actions: [Action] = []
        for place in entries.indices {
            guard place < entries.count, let waiters = entries[place]?.waiters, !waiters.isEmpty else { continue }
            for waiter in waiters { actions.append(.waiter(waiter.id, .abandoned)) }
            entries[place]?.waiters = []
            removeIfSpent(place)
        }
        waiterCount = 0
        return actions
    }

    private func checkRoom(for filters: [TopicFilter]) throws {
        let added = Set(filters.lazy.filter { places[$0] == nil }).count
        guard added == 0 || count + added <= limits.maximumFilters else {
            throw CourierError(
                .queueFull,
                "The client has \(count) topic filters already; at most \(limits.maximumFilters) are allowed. "
                    + "Unsubscribe some filters, or cover several filters with one wildcard filter.")
        }
    }

    private func checkWaiters(_ added: Int) throws {
        guard added == 0 || waiterCount + added <= limits.maximumWaiters else {
            throw CourierError(
                .queueFull,
                "\(waiterCount) calls wait for the broker's answer to a subscription; "
                    + "at most \(limits.maximumWaiters) calls may wait. "
                    + "Wait until some calls end, or use the methods that do not wait for an answer.")
        }
    }
}
