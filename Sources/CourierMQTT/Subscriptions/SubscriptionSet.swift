import CourierCore

/// The topic filters that a client wants, and what its broker has of them: intents are kept, not packets.
///
/// ```
/// intents of the app and of readers ─┐
///                                   ├─▶ difference ─▶ SUBSCRIBE / UNSUBSCRIBE, at most one per filter under way
/// answers of the broker ────────────┘
/// ```
///
/// Without a session, or with one that may be another, a new connection is asked for everything that is wanted; with
/// the same one, only for what differs from what the broker has confirmed, which includes unsubscribing what was under
/// way when the connection ended. In a session that the set did not see begin, the broker may have any filter: when the app
/// unsubscribes one, the broker is asked. What the broker refuses is not asked for again on the same connection, unless with
/// another quality of service or after it was unsubscribed, and is on the next one. What it has ruled out in CONNACK is
/// refused without asking it. Filters that match topics in common get identifiers, so that the copies of a message for
/// each of them can be told apart.
///
/// Perform the returned actions in order. Nothing here needs a lock or a clock: the caller brings both.
struct SubscriptionSet: Sendable {
    typealias Action = SubscriptionAction
    typealias RequestID = SubscriptionAction.RequestID
    typealias Instant = ContinuousClock.Instant

    /// Who wants a filter.
    enum IntentOwner: Hashable, Sendable {
        /// The app, by `subscribe` or its configuration. It wants a filter once, however often it says so.
        case app
        /// A reader, under a name that no other reader has.
        case reader(UInt64)
    }

    /// A packet that the broker has not answered.
    struct Pending: Sendable {
        /// The entries, in the order of the packet.
        let entries: [Int]
        let requests: [SubscriptionEntry.Request]
        let userProperties: [UserProperty]
        let sentAt: Instant
    }

    let limits: SubscriptionLimits
    /// The properties of filters without properties of their own.
    let defaults: SubscriptionProperties
    /// In the order in which filters came; a place is used again.
    var entries: [SubscriptionEntry?] = []
    private var vacant: [Int] = []
    private(set) var places: [TopicFilter: Int] = [:]
    var queue = SlotQueue()
    var pending: [RequestID: Pending] = [:]
    var lastRequest: UInt64 = 0
    var waiterCount = 0
    /// What the broker takes; `nil` without a connection.
    var support: SubscriptionSupport?
    /// True once the broker has begun a session for this set: then it has no subscription that the set does not know.
    var knowsSession = false
    /// `nil` while the broker knows of none.
    var identifiers: SubscriptionIdentifiers?

    init(
        limits: SubscriptionLimits = SubscriptionLimits(), defaults: SubscriptionProperties = SubscriptionProperties()
    ) {
        self.limits = limits
        self.defaults = defaults
    }

    /// The user properties of a packet that the broker has not answered.
    func userProperties(of request: RequestID) -> [UserProperty] { pending[request]?.userProperties ?? [] }

    /// How many filters are known.
    var count: Int { places.count }

    /// Whether there is a filter that somebody wants.
    var hasIntents: Bool { entries.contains { $0?.wanted != nil } }

    /// What the broker is asked for with a filter, `nil` when nobody wants it.
    func wanted(_ filter: TopicFilter) -> QoS? { places[filter].flatMap { entries[$0]?.wanted } }

    /// What the broker granted for a filter, `nil` when it has not or nobody knows.
    func granted(_ filter: TopicFilter) -> QoS? {
        guard let place = places[filter], case .subscribed(_, let qos)? = entries[place]?.confirmed else { return nil }
        return qos
    }
}

// MARK: - Entries

extension SubscriptionSet {
    mutating func place(for filter: TopicFilter) -> Int {
        if let place = places[filter] { return place }
        let place = vacant.popLast() ?? entries.count
        if place == entries.count { entries.append(nil) }
        var entry = SubscriptionEntry(filter)
        entry.properties = defaults
        entries[place] = entry
        places[filter] = place
        return place
    }

    mutating func add(_ waiter: UInt64, _ intent: SubscriptionEntry.Request, at place: Int) {
        entries[place]?.waiters.append(SubscriptionEntry.Waiter(id: waiter, intent: intent))
        waiterCount += 1
    }

    mutating func removeIfSpent(_ place: Int) {
        guard let entry = entries[place], entry.isSpent else { return }
        places[entry.filter] = nil
        identifiers?.remove(entry.filter)
        entries[place] = nil
        vacant.append(place)
        if places.isEmpty { (entries, vacant, places) = ([], [], [:]) }
    }
}
