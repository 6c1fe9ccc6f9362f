import CourierCore

/// One filter of a ``SubscriptionSet``, with the owners that want it and the state that the broker has confirmed.
struct SubscriptionEntry: Sendable {
    /// The state of the filter at the broker, as far as the broker has confirmed it.
    enum Confirmed: Hashable, Sendable {
        /// The broker has no subscription for the filter.
        case absent
        /// The state is unknown. A request was under way when the connection ended, or an earlier process may have left
        /// a subscription.
        case unknown
        /// The broker has a subscription, with the requested and the granted quality of service.
        case subscribed(asked: QoS, granted: QoS)
    }

    /// A request to the broker. At most one request of a filter is under way.
    enum Request: Hashable, Sendable {
        case subscribe(QoS)
        case unsubscribe
    }

    /// A caller that waits for the result of a `subscribe` or `unsubscribe` call for a filter.
    struct Waiter: Hashable, Sendable {
        let id: UInt64
        /// The request whose result the caller awaits. A caller of `unsubscribe` awaits ``Request/unsubscribe``.
        let intent: Request

        var wantsEnd: Bool { intent == .unsubscribe }
    }

    /// The result for a waiting caller.
    struct Answer: Hashable, Sendable {
        let waiter: UInt64
        let outcome: SubscriptionAction.Outcome
    }

    let filter: TopicFilter
    /// The quality of service that the app wants.
    var appIntent: QoS?
    /// The quality of service that each running reader wants, by the id of the reader.
    var readerIntents: [UInt64: QoS] = [:]
    var confirmed = Confirmed.absent
    var inFlight: Request?
    /// The properties that the app chose for the SUBSCRIBE of the filter.
    var properties = SubscriptionProperties()
    /// The user properties of the SUBSCRIBE that still awaits its answer. `confirmedUserProperties` are the user
    /// properties of the last SUBSCRIBE that the broker granted.
    var userPropertiesInFlight: [UserProperty] = []
    var confirmedUserProperties: [UserProperty] = []
    /// The user properties for the next UNSUBSCRIBE.
    var endProperties: [UserProperty] = []
    /// True if the filter was already compared with the other filters. The comparison finds filters that can match the
    /// same topic.
    var isCompared = false
    /// The subscription identifier that the filter should have; `nil` for none. `identifierInFlight` is the identifier
    /// in the SUBSCRIBE that still awaits its answer. `confirmedIdentifier` is the identifier that the broker has
    /// confirmed.
    var identifier: UInt32?
    var identifierInFlight: UInt32?
    var confirmedIdentifier: UInt32?
    /// The id of the last SUBSCRIBE that makes the broker send the filter's retained messages; 0 if there was none.
    var lastRetained: UInt64 = 0
    /// The last request that failed on this connection, and its failure; `nil` if none failed. The request is not
    /// repeated on this connection.
    var failed: (request: Request, failure: SubscriptionAction.Failure)?
    var waiters: [Waiter] = []
    /// The intent that the message store contains for the filter; `nil` if the store contains none.
    var stored: StoredSubscription.Intent?
    /// True while the entry is in the queue of entries that need a request.
    var isQueued = false

    init(_ filter: TopicFilter) { self.filter = filter }

    /// The highest quality of service that any owner wants; `nil` if no owner wants the filter.
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

    /// The next request to the broker. `nil` if the broker already has the wanted state, a request is under way, or the
    /// request failed on this connection.
    ///
    /// The request is the difference between the wanted and the confirmed state. An intent may change while a request
    /// is under way. Then the answer updates the confirmed state, and the new difference is the next request.
    var due: Request? {
        guard inFlight == nil, let missing, failed?.request != missing else { return nil }
        return missing
    }

    /// The request that leads from the confirmed to the wanted state; `nil` if both are equal.
    var missing: Request? {
        switch (wanted, confirmed) {
        case (nil, .absent): nil
        case (nil, .unknown), (nil, .subscribed): .unsubscribe
        case (let qos?, .subscribed(let asked, _))
        where asked == qos && identifier == confirmedIdentifier && hasSentUserProperties: nil
        case (let qos?, _): .subscribe(qos)
        }
    }

    /// True if there are no user properties, or if the broker has granted a SUBSCRIBE with them.
    private var hasSentUserProperties: Bool {
        properties.userProperties.isEmpty || properties.userProperties == confirmedUserProperties
    }

    /// The user properties of the packet that carries the request.
    func userProperties(of request: Request) -> [UserProperty] {
        request == .unsubscribe ? endProperties : properties.userProperties
    }

    /// A copy of the entry, in which the broker has already granted the request that is under way.
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

    /// True if the broker already has the subscription with the wanted quality of service. Then a SUBSCRIBE changes
    /// only the identifier or the user properties.
    var isRenewal: Bool {
        if case .subscribed(let asked, _) = confirmed { asked == wanted } else { false }
    }

    /// The intent to store for the filter; `nil` if the store needs no intent. Subscriptions of the app are restored
    /// after a restart of the process. Subscriptions of readers end with the process. So the next process must
    /// unsubscribe the filters of these readers.
    var intent: StoredSubscription.Intent? {
        if let appIntent { return .subscribed(appIntent) }
        return confirmed == .absent && inFlight == nil ? nil : .unsubscribing
    }

    /// Records that the request is being sent.
    mutating func begin(_ request: Request) {
        inFlight = request
        identifierInFlight = identifier
        userPropertiesInFlight = properties.userProperties
        if request == .unsubscribe { endProperties = [] }
    }

    /// Records that a request was not granted. If the owners no longer want the request, forgets the failure. Then the
    /// same request may be sent again later.
    mutating func note(_ failure: SubscriptionAction.Failure, of request: Request) {
        failed = missing == request ? (request, failure) : nil
    }

    /// True if the entry can be removed: no owner wants the filter, the broker has no subscription, and no request or
    /// caller waits.
    var isSpent: Bool { wanted == nil && confirmed == .absent && inFlight == nil && waiters.isEmpty && !isQueued }
}

// MARK: - Waiters

extension SubscriptionEntry {
    /// Removes the waiters whose request the broker has just fulfilled, and returns their results. These waiters get
    /// their result even if an owner of the filter has changed its intent in the meantime.
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

    /// Removes the waiters whose wait has ended, and returns their results:
    /// - If the broker has the wanted state, every wait ends.
    /// - If the next request failed on this connection, every wait ends.
    /// - If the next request can still succeed, the wait ends only for callers that want the opposite. For
    ///   example, the next request is SUBSCRIBE, and the caller waits for `unsubscribe`.
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

    /// Returns the change that writes the intent to the message store, and counts the intent as stored. Returns `nil`
    /// if the store already has the intent.
    mutating func changeToStore() -> StoreChange? {
        let intent = intent
        guard intent != stored else { return nil }
        stored = intent
        return intent.map { .want(StoredSubscription(filter, $0)) } ?? .forgetSubscription(filter)
    }
}

extension QoS {
    /// The quality of service for a subscription, without the options that apply only to publishing.
    var asSubscribed: QoS {
        switch self {
        case .zero: .zero
        case .one, .oneWithoutPersistenceAndNoRetry, .oneWithoutPersistenceAndRetry: .one
        case .two: .two
        }
    }
}
