import CourierCore

/// The topic filters that a client wants, and their confirmed state at the broker. The set stores intents, not packets.
///
/// ```
/// intents of the app and of readers ─┐
///                                    ├─▶ difference ─▶ SUBSCRIBE / UNSUBSCRIBE, at most one per filter under way
/// answers of the broker ─────────────┘
/// ```
///
/// In a new session, all wanted filters are subscribed. The same is true if the session may have been replaced by
/// another session. In the same session, only differences are sent. If a request for a filter was under way when the
/// connection ended, the filter counts as a difference. If the session began before this set existed, the broker may
/// have unknown subscriptions. So an UNSUBSCRIBE of the app is always sent in such a session.
///
/// A refused filter is requested again on the next connection, after an unsubscribe, or when another quality of service
/// is wanted. If CONNACK says that the broker does not support a kind of filter, such a filter is refused without a
/// packet. If a topic can match two filters, both get identifiers. The identifiers in a copy of a message show the
/// filters that the copy is for.
///
/// The caller must perform the returned actions in their order. The set has no lock and no clock.
struct SubscriptionSet: Sendable {
    typealias Action = SubscriptionAction
    typealias RequestID = SubscriptionAction.RequestID
    typealias Instant = ContinuousClock.Instant

    /// The owner of an intent: the app or a reader.
    enum IntentOwner: Hashable, Sendable {
        /// The app wants the filter, by `subscribe` or its configuration. Repeated calls for a filter count as one
        /// intent.
        case app
        /// A reader with this unique id wants the filter.
        case reader(UInt64)
    }

    /// A packet that the broker has not answered.
    struct Pending: Sendable {
        /// The indices in `entries` of the filters in the packet, in the packet's order.
        let entries: [Int]
        let requests: [SubscriptionEntry.Request]
        let userProperties: [UserProperty]
        let sentAt: Instant
    }

    let limits: SubscriptionLimits
    /// The properties of filters without properties of their own.
    let defaults: SubscriptionProperties
    /// The entries. The index of an entry is its *place*. After an entry was removed, its place contains `nil` until a
    /// new entry takes this place.
    var entries: [SubscriptionEntry?] = []
    private var vacant: [Int] = []
    private(set) var places: [TopicFilter: Int] = [:]
    var queue = SlotQueue()
    var pending: [RequestID: Pending] = [:]
    var lastRequest: UInt64 = 0
    var waiterCount = 0
    /// The features that the broker supports; `nil` without a connection.
    var support: SubscriptionSupport?
    /// True if the broker's session began while this set existed. Then the set contains every subscription of the
    /// session.
    var knowsSession = false
    /// The subscription identifiers; `nil` if the broker does not support them.
    var identifiers: SubscriptionIdentifiers?

    init(
        limits: SubscriptionLimits = SubscriptionLimits(), defaults: SubscriptionProperties = SubscriptionProperties()
    ) {
        self.limits = limits
        self.defaults = defaults
    }

    /// Returns the user properties of a packet that the broker has not answered.
    func userProperties(of request: RequestID) -> [UserProperty] { pending[request]?.userProperties ?? [] }

    /// The number of known filters.
    var count: Int { places.count }

    /// True if any filter is wanted.
    var hasIntents: Bool { entries.contains { $0?.wanted != nil } }

    /// Returns the wanted quality of service of a filter; `nil` if the filter is not wanted.
    func wanted(_ filter: TopicFilter) -> QoS? { places[filter].flatMap { entries[$0]?.wanted } }

    /// Returns the granted quality of service of a filter; `nil` if the filter is not granted or not known.
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
