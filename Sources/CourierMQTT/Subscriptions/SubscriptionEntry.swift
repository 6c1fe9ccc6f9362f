import CourierCore

/// One filter of a ``SubscriptionSet``: who wants it, and what the broker has confirmed.
struct SubscriptionEntry: Sendable {
    /// The state of the filter at the broker, as far as the broker has confirmed it.
    enum Confirmed: Hashable, Sendable {
        /// Nothing.
        case absent
        /// Unknown: a request was under way when the connection ended, or an earlier process may have left it.
        case unknown
        /// A subscription, with the requested and the granted quality of service.
        case subscribed(asked: QoS, granted: QoS)
    }

    /// A request to the broker. At most one request of a filter is under way.
    enum Request: Hashable, Sendable {
        case subscribe(QoS)
        case unsubscribe
    }

    /// A caller that waits for a filter.
    struct Waiter: Hashable, Sendable {
        let id: UInt64
        /// The awaited request; a caller of `unsubscribe` waits for ``Request/unsubscribe``.
        let intent: Request

        var wantsEnd: Bool { intent == .unsubscribe }
    }

    /// How a wait ended.
    struct Answer: Hashable, Sendable {
        let waiter: UInt64
        let outcome: SubscriptionAction.Outcome
    }

    let filter: TopicFilter
    /// The quality of service that the app wants.
    var appIntent: QoS?
    /// The qualities of service that the running readers want.
    var readerIntents: [UInt64: QoS] = [:]
    var confirmed = Confirmed.absent
    var inFlight: Request?
    /// The properties that the app chose for the SUBSCRIBE of the filter.
    var properties = SubscriptionProperties()
    /// The user properties of the SUBSCRIBE under way, and of the granted one.
    var userPropertiesInFlight: [UserProperty] = []
    var confirmedUserProperties: [UserProperty] = []
    /// The user properties of the next UNSUBSCRIBE.
    var endProperties: [UserProperty] = []
    /// Whether it was compared with the other filters.
    var isCompared = false
    /// The identifier that the subscription is to have, that which is under way has, and that which the broker knows.
    var identifier: UInt32?
    var identifierInFlight: UInt32?
    var confirmedIdentifier: UInt32?
    /// The last request that had the broker send the retained messages of the filter; 0 when there was none.
    var lastRetained: UInt64 = 0
    /// The request that failed on this connection and is not repeated on it, with its failure.
    var failed: (request: Request, failure: SubscriptionAction.Failure)?
    var waiters: [Waiter] = []
    /// The intent that is stored for the filter.
    var stored: StoredSubscription.Intent?
    /// Whether the entry is in the set's list of those to look at.
    var isQueued = false

    init(_ filter: TopicFilter) { self.filter = filter }

    /// The highest quality of service that anybody wants.
    var wanted: QoS? {
        var highest = appIntent
        for intent in readerIntents.values {
            guard let present = highest, present.wireLevel >= intent.wireLevel else {
                highest = intent
                continue
            }
        }
        return highest
    }

    /// The next request to the broker; `nil` if the filter is as wanted, or was refused on this connection.
    ///
    /// It compares the wanted state with the confirmed one. So intents that change during a request need no bookkeeping: the
    /// answer confirms a state, and the difference is the next request.
    var due: Request? {
        guard inFlight == nil, let missing, failed?.request != missing else { return nil }
        return missing
    }

    /// The difference between the confirmed and the wanted state, as a request.
    var missing: Request? {
        switch (wanted, confirmed) {
        case (nil, .absent): nil
        case (nil, .unknown), (nil, .subscribed): .unsubscribe
        case (let qos?, .subscribed(let asked, _))
        where asked == qos && identifier == confirmedIdentifier && hasSentUserProperties: nil
        case (let qos?, _): .subscribe(qos)
        }
    }

    /// Whether the broker has granted a SUBSCRIBE with the user properties, if there are any.
    private var hasSentUserProperties: Bool {
        properties.userProperties.isEmpty || properties.userProperties == confirmedUserProperties
    }

    /// The user properties of the packet that carries the request.
    func userProperties(of request: Request) -> [UserProperty] {
        request == .unsubscribe ? endProperties : properties.userProperties
    }

    /// The entry as it will be after the request under way.
    var fulfilled: Self {
        var entry = self
        switch inFlight {
        case nil: return self
        case .subscribe(let qos)?:
            entry.confirmed = .subscribed(asked: qos, granted: qos)
            entry.confirmedIdentifier = identifierInFlight
            entry.confirmedUserProperties = userPropertiesInFlight
        case .unsubscribe?: entry.confirmed = .absent
        }
        entry.inFlight = nil
        entry.failed = nil
        return entry
    }

    /// Whether the request changes only the identifier.
    var isRenewal: Bool {
        if case .subscribed(let asked, _) = confirmed { asked == wanted } else { false }
    }

    /// The intent for the store: the app's subscriptions survive a restart. Readers do not, so filters that the broker may have
    /// for a reader are unsubscribed later.
    var intent: StoredSubscription.Intent? {
        if let appIntent { return .subscribed(appIntent) }
        return confirmed == .absent && inFlight == nil ? nil : .unsubscribing
    }

    /// The request is sent.
    mutating func begin(_ request: Request) {
        inFlight = request
        identifierInFlight = identifier
        userPropertiesInFlight = properties.userProperties
        if request == .unsubscribe { endProperties = [] }
    }

    /// The request was not granted. If it is no longer wanted, the failure is ignored, and the request may be repeated.
    mutating func note(_ failure: SubscriptionAction.Failure, of request: Request) {
        failed = missing == request ? (request, failure) : nil
    }

    /// Whether the entry can be removed.
    var isSpent: Bool { wanted == nil && confirmed == .absent && inFlight == nil && waiters.isEmpty && !isQueued }
}

// MARK: - Waiters

extension SubscriptionEntry {
    /// Takes out those whose intent the broker has just fulfilled, also when something else is wanted by now.
    mutating func reached() -> [Answer] {
        switch confirmed {
        case .subscribed(let asked, let granted):
            take { waiter in
                guard case .subscribe(let qos) = waiter.intent, qos.wireLevel <= asked.wireLevel else { return nil }
                return .granted(granted)
            }
        case .absent: take { $0.wantsEnd ? .unsubscribed : nil }
        case .unknown: []
        }
    }

    /// Removes and returns the waiters that have an answer: all of them if the filter is as wanted or was refused on this
    /// connection, otherwise those that want the opposite of the next request.
    mutating func settled() -> [Answer] {
        guard !waiters.isEmpty, inFlight == nil else { return [] }
        switch (missing, confirmed) {
        case (nil, .subscribed(_, let granted)): return take { $0.wantsEnd ? .superseded : .granted(granted) }
        case (nil, _): return take { $0.wantsEnd ? .unsubscribed : .superseded }
        case (let missing?, _):
            let isEnd = missing == .unsubscribe
            let failure = failed.flatMap { $0.request == missing && $0.failure != .connectionLost ? $0.failure : nil }
            return take { waiter in
                if waiter.wantsEnd != isEnd { return .superseded }
                return failure.map { .failed($0) }
            }
        }
    }

    private mutating func take(_ outcome: (Waiter) -> SubscriptionAction.Outcome?) -> [Answer] {
        guard !waiters.isEmpty else { return [] }
        var (answers, left): ([Answer], [Waiter]) = ([], [])
        for waiter in waiters {
            if let outcome = outcome(waiter) {
                answers.append(Answer(waiter: waiter.id, outcome: outcome))
            } else {
                left.append(waiter)
            }
        }
        waiters = left
        return answers
    }

    /// The change for the store, if the intent differs from the stored one.
    mutating func changeToStore() -> StoreChange? {
        let intent = intent
        guard intent != stored else { return nil }
        stored = intent
        return intent.map { .want(StoredSubscription(filter, $0)) } ?? .forgetSubscription(filter)
    }
}

extension QoS {
    /// The same level without what only concerns publishing.
    var asSubscribed: QoS {
        switch self {
        case .zero: .zero
        case .one, .oneWithoutPersistenceAndNoRetry, .oneWithoutPersistenceAndRetry: .one
        case .two: .two
        }
    }
}
