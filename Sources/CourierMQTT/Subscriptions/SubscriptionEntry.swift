import CourierCore

/// One filter of a ``SubscriptionSet``: who wants it, and what the broker has of it.
struct SubscriptionEntry: Sendable {
    /// What the broker has of the filter, as far as it has said so.
    enum Confirmed: Hashable, Sendable {
        /// Nothing.
        case absent
        /// Unknown: a request was under way when the connection ended, or an earlier process may have left it.
        case unknown
        /// A subscription: what was asked for and what was granted.
        case subscribed(asked: QoS, granted: QoS)
    }

    /// What the broker is asked for. At most one request per filter is under way.
    enum Request: Hashable, Sendable {
        case subscribe(QoS)
        case unsubscribe
    }

    /// Who waits for the filter to get where it is wanted.
    struct Waiter: Hashable, Sendable {
        let id: UInt64
        /// What it waits for; the caller of `unsubscribe` waits for ``Request/unsubscribe``.
        let intent: Request

        var wantsEnd: Bool { intent == .unsubscribe }
    }

    /// How a wait ended.
    struct Answer: Hashable, Sendable {
        let waiter: UInt64
        let outcome: SubscriptionAction.Outcome
    }

    let filter: TopicFilter
    /// What the app itself wants.
    var appIntent: QoS?
    /// What the running readers want.
    var readerIntents: [UInt64: QoS] = [:]
    var confirmed = Confirmed.absent
    var inFlight: Request?
    /// The properties that the app chose for the SUBSCRIBE of the filter.
    var properties = SubscriptionProperties()
    /// The user properties of the SUBSCRIBE that is under way, and of the one that the broker has granted.
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
    /// What did not succeed on this connection and is not tried again on it, and why.
    var failed: (request: Request, failure: SubscriptionAction.Failure)?
    var waiters: [Waiter] = []
    /// What the store was told of the filter.
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

    /// What the broker has to be asked for, `nil` when it has what is wanted, or has said no on this connection.
    ///
    /// It looks at what is wanted now and not at how it came to be, so that intents which change while a request is
    /// under way need no bookkeeping: the answer to the old request says what the broker has, and the difference is the
    /// next one.
    var due: Request? {
        guard inFlight == nil, let missing, failed?.request != missing else { return nil }
        return missing
    }

    /// What separates what the broker has from what is wanted.
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

    /// The entry as it will be when the broker has done what it is being asked for.
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

    /// Whether the broker has what it is asked for, but for the identifier.
    var isRenewal: Bool {
        if case .subscribed(let asked, _) = confirmed { asked == wanted } else { false }
    }

    /// What a restarted client should know: what the app wants survives it, a reader does not, and what the broker may
    /// still have for a reader is to be undone.
    var intent: StoredSubscription.Intent? {
        if let appIntent { return .subscribed(appIntent) }
        return confirmed == .absent && inFlight == nil ? nil : .unsubscribing
    }

    /// The request goes out.
    mutating func begin(_ request: Request) {
        inFlight = request
        identifierInFlight = identifier
        userPropertiesInFlight = properties.userProperties
        if request == .unsubscribe { endProperties = [] }
    }

    /// The request was not granted. If it is not what is wanted by now, nobody is told so, and it may be made again.
    mutating func note(_ failure: SubscriptionAction.Failure, of request: Request) {
        failed = missing == request ? (request, failure) : nil
    }

    /// Whether nobody needs the entry any more.
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

    /// Takes out those who have nothing more to wait for: all once the broker has what is wanted or has said no on this
    /// connection, and before that those who wanted the opposite of what it will be asked for next.
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

    /// What the store has to be told, once.
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
