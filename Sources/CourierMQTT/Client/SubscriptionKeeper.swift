import CourierCore
import CourierTransport
import MQTTCodec
import MQTTEngine

/// Performs the decisions of a ``SubscriptionSet``: sends packets, passes results to waiting callers, and reports
/// events to the app.
///
/// All members are used on the client's loop only.
final class SubscriptionKeeper {
    /// A caller that waits until the broker has granted, refused or removed the subscription to a filter.
    enum Waiting {
        case subscriber(@Sendable (Result<QoS, CourierError>) -> Void)
        case unsubscriber(@Sendable (Result<Void, CourierError>) -> Void)
        case reader(ReaderRegistration)
    }

    /// A reader that waits for the first connect options, because its filter contains `%u` or `%c`. The options contain
    /// the user name and the client id for these placeholders.
    private struct Unresolved {
        let reader: ReaderRegistration
        let request: SubscriptionRequest
    }

    /// The maximum number of readers that wait for the values of the placeholders `%u` and `%c`.
    static let unresolvedLimit = 10_000

    /// The bit that distinguishes tokens of SUBSCRIBE and UNSUBSCRIBE from tokens of publishes.
    static let tokenMark: UInt64 = 1 << 63

    let loop: EventLoop
    let driver: SessionDriver
    let options: SubscriptionOptions
    private let texts: WireText
    private let tell: (CourierEventType) -> Void
    /// Stores a change for the next process, if the client has a message store.
    private let keep: (StoreChange) -> Void
    var filters: SubscriptionSet
    /// Actions that the subscription set has returned and that are not performed yet.
    var actions: [SubscriptionAction] = []
    var waiting: [UInt64: (filter: TopicFilter, who: Waiting)] = [:]
    /// The id, filter, QoS and waiter key of each open reader.
    private var readers: [ObjectIdentifier: (id: UInt64, filter: TopicFilter, qos: QoS, waiter: UInt64)] = [:]
    /// The readers of `for await` loops, by reader id. A reader ends if the broker refuses its filter.
    private var loops: [UInt64: ReaderRegistration] = [:]
    private var unresolved: [Unresolved] = []
    private let hasStore: Bool
    /// True if the subscriptions of an earlier process were restored, or if there is no message store.
    private var isRestored: Bool
    private var lastID: UInt64 = 0

    /// Makes a keeper that keeps `topics` subscribed, and reports events to `tell`. `keep` receives the changes of
    /// subscriptions that a message store must save. With a message store, the owner of this keeper must call
    /// ``restore(_:)`` once for each session.
    init(
        _ topics: [(filter: TopicFilter, qos: QoS)], _ driver: SessionDriver, on loop: EventLoop,
        hasStore: Bool = false, options: SubscriptionOptions = SubscriptionOptions(),
        texts: WireText = WireText.portable,
        tell: @escaping (CourierEventType) -> Void,
        keep: @escaping (StoreChange) -> Void = { _ in }
    ) {
        self.loop = loop
        self.driver = driver
        self.tell = tell
        self.keep = keep
        self.hasStore = hasStore
        isRestored = !hasStore
        self.options = options
        self.texts = texts
        filters = SubscriptionSet(defaults: options.properties)
        wantedAlways = topics
        wantAlways()
    }

    private let wantedAlways: [(filter: TopicFilter, qos: QoS)]

    private func wantAlways() {
        let intents = wantedAlways.map { SubscriptionSet.Intent($0.filter, $0.qos) }
        actions += (try? filters.want(intents, by: .app, now: loop.clock.now)) ?? []
    }

    /// Restores the subscriptions and pending unsubscribes of an earlier process. ``perform()`` stores later changes.
    func restore(_ subscriptions: [StoredSubscription]) {
        isRestored = true
        actions += filters.restore(subscriptions.filter { !discardIfUnsendable($0) })
    }

    /// Removes a stored subscription whose filter the client may not send, and reports the reason as an event. An older
    /// version of the client may have stored such a filter. Returns `false` if the client may send the filter.
    private func discardIfUnsendable(_ subscription: StoredSubscription) -> Bool {
        do throws(CourierError) {
            try texts.check(subscription.filter)
            return false
        } catch {
            keep(.forgetSubscription(subscription.filter))
            let filter = subscription.filter.string
            switch subscription.intent {
            case .subscribed(let qos): tell(.subscribeFailure(topics: [(filter, qos)], timeTaken: 0, error: error))
            case .unsubscribing: tell(.unsubscribeFailure(topics: [filter], timeTaken: 0, error: error))
            }
            return true
        }
    }

    /// True if a filter must be subscribed or unsubscribed. Also true until the subscriptions of an earlier process are
    /// restored, because they may contain a filter.
    var hasTopics: Bool { filters.count > 0 || !unresolved.isEmpty || !isRestored }

    // MARK: Requests of the app

    /// The unique key of one waiting caller.
    typealias WaiterKey = UInt64

    /// The lowest key of a waiting caller. The keeper uses lower numbers for its own requests.
    static let firstWaiterKey: WaiterKey = 1 << 62

    func subscribe(
        _ filter: String, _ qos: QoS, properties: SubscriptionProperties? = nil, key: WaiterKey,
        told: (@Sendable (Result<QoS, CourierError>) -> Void)?
    ) {
        let id = told == nil ? nil : key
        do {
            let topicFilter = try TopicFilter(filter)
            try texts.check(topicFilter)
            if let id, let told { waiting[id] = (topicFilter, .subscriber(told)) }
            let intent = SubscriptionSet.Intent(topicFilter, qos, properties: properties, waiter: id)
            actions += try filters.want([intent], by: .app, now: loop.now)
        } catch {
            if let id { waiting[id] = nil }
            let error = Self.courierError(error)
            tell(.subscribeFailure(topics: [(filter, qos)], timeTaken: 0, error: error))
            told?(.failure(error))
        }
    }

    func unsubscribe(
        _ filter: String, userProperties: [UserProperty] = [], key: WaiterKey,
        told: (@Sendable (Result<Void, CourierError>) -> Void)?
    ) {
        let id = told == nil ? nil : key
        do {
            let topicFilter = try TopicFilter(filter)
            try texts.check(topicFilter)
            if let id, let told { waiting[id] = (topicFilter, .unsubscriber(told)) }
            let removal = SubscriptionSet.IntentRemoval(topicFilter, userProperties: userProperties, waiter: id)
            actions += try filters.unwant([removal], by: .app, now: loop.now)
        } catch {
            if let id { waiting[id] = nil }
            let error = Self.courierError(error)
            tell(.unsubscribeFailure(topics: [filter], timeTaken: 0, error: error))
            told?(.failure(error))
        }
    }

    /// The number of callers that wait for the broker's response.
    var waitingCount: Int { waiting.count }

    /// Removes a waiting caller. The caller's request is not cancelled.
    func forget(_ key: WaiterKey) {
        guard let (filter, _) = waiting.removeValue(forKey: key) else { return }
        filters.forget(waiter: key, of: filter)
    }

    // MARK: Readers

    /// Opens the reader of a new `for await` loop, and subscribes to its filter. If the filter contains a placeholder
    /// without a value, the reader waits for `use(identity:)`.
    func open(_ reader: ReaderRegistration, _ request: SubscriptionRequest, identity: ConnectionIdentity?) {
        let filter: TopicFilter
        do {
            filter = try request.topic.filter(for: identity)
            try texts.check(filter)
            try request.properties?.check(filter: filter.string, texts)
        } catch {
            let error = Self.courierError(error)
            guard error.code == .unresolvedPlaceholder, unresolved.count < Self.unresolvedLimit else {
                return reader.end(error)
            }
            return unresolved.append(Unresolved(reader: reader, request: request))
        }
        reader.open(filter, request.acknowledge)
        let (id, waiter) = (nextID(), nextID())
        do {
            waiting[waiter] = (filter, .reader(reader))
            readers[ObjectIdentifier(reader)] = (id, filter, request.qos, waiter)
            loops[id] = reader
            actions += try filters.want(
                [SubscriptionSet.Intent(filter, request.qos, properties: request.properties, waiter: waiter)],
                by: .reader(id), now: loop.now)
        } catch {
            waiting[waiter] = nil
            readers[ObjectIdentifier(reader)] = nil
            loops[id] = nil
            reader.end(Self.courierError(error))
        }
    }

    /// Opens a reader whose filter has no placeholders, and calls `told` with the broker's grant or an error. If the
    /// reader is already open, only adds a caller that waits for the grant.
    func subscribe(
        _ reader: ReaderRegistration, to filter: TopicFilter, _ qos: QoS, key: WaiterKey,
        told: @escaping @Sendable (Result<QoS, CourierError>) -> Void
    ) {
        let present = readers[ObjectIdentifier(reader)]
        let id = present?.id ?? nextID()
        do {
            waiting[key] = (filter, .subscriber(told))
            actions += try filters.want(
                [SubscriptionSet.Intent(filter, qos, waiter: key)], by: .reader(id), now: loop.now)
        } catch {
            waiting[key] = nil
            return told(.failure(Self.courierError(error)))
        }
        guard present == nil else { return }
        readers[ObjectIdentifier(reader)] = (id, filter, qos, key)
        reader.open(filter, .onReceipt)
    }

    /// Removes a reader that the app does not use any more. The reader's filter is unsubscribed, unless the app or
    /// another reader uses the filter.
    func close(_ reader: ReaderRegistration) {
        unresolved.removeAll { $0.reader === reader }
        guard let (id, filter, _, waiter) = readers.removeValue(forKey: ObjectIdentifier(reader)) else { return }
        loops[id] = nil
        if waiting.removeValue(forKey: waiter) != nil { filters.forget(waiter: waiter, of: filter) }
        actions += (try? filters.unwant([(filter, nil)], by: .reader(id), now: loop.now)) ?? []
    }

    /// If a `for await` loop waits for the grant of its filter, the wait fails with this error. The loop itself
    /// continues.
    func failGrants(_ error: CourierError) {
        for reader in loops.values { reader.failGrant(error) }
        for one in unresolved { one.reader.failGrant(error) }
    }

    /// A `for await` loop that `takeLoops()` has removed and returned.
    struct TakenLoop {
        let id: UInt64
        let filter: TopicFilter
        let reader: ReaderRegistration
        /// True if the broker has granted the filter, and has not refused the filter since then.
        let isGranted: Bool
    }

    /// Removes and returns all `for await` loops. If the filter of a loop still contains the placeholder `%u` or `%c`,
    /// the loop ends here and is not returned. The filters of the returned loops stay subscribed until
    /// ``leave(_:of:told:)``.
    func takeLoops() -> [TakenLoop] {
        for one in unresolved { one.reader.end() }
        unresolved = []
        defer { loops = [:] }
        return loops.compactMap { id, reader in
            guard let (_, filter, _, waiter) = readers.removeValue(forKey: ObjectIdentifier(reader)) else { return nil }
            let waits = waiting.removeValue(forKey: waiter) != nil
            if waits { filters.forget(waiter: waiter, of: filter) }
            return TakenLoop(id: id, filter: filter, reader: reader, isGranted: !waits && reader.isReading)
        }
    }

    /// Removes a reader's filter. `told` is called when the broker has confirmed UNSUBSCRIBE, or when no confirmation
    /// can arrive.
    func leave(_ filter: TopicFilter, of id: UInt64, told: (@Sendable () -> Void)?) {
        let waiter = told == nil ? nil : nextID()
        if let waiter, let told { waiting[waiter] = (filter, .unsubscriber { _ in told() }) }
        do {
            actions += try filters.unwant([(filter, waiter)], by: .reader(id), now: loop.now)
        } catch {
            // There are too many waiting callers, so call `told` without waiting for UNSUBACK.
            if let waiter { waiting[waiter] = nil }
            actions += (try? filters.unwant([(filter, nil)], by: .reader(id), now: loop.now)) ?? []
            told?()
        }
    }

    /// Makes a reader's filter a subscription of the app. The subscription remains after the reader has ended.
    func giveToApp(_ filter: TopicFilter, of id: UInt64) { actions += filters.takeOver(filter, of: id) }

    /// Opens the readers that waited for the values of the placeholders `%u` and `%c`.
    func use(identity: ConnectionIdentity?) {
        guard identity != nil, !unresolved.isEmpty else { return }
        let known = unresolved
        unresolved = []
        for one in known { open(one.reader, one.request, identity: identity) }
    }

    // MARK: Connections and the broker's responses

    func connected(_ connAck: ConnAck, isOtherSession: Bool) {
        actions += filters.connected(
            sessionPresent: connAck.isSessionPresent, isOtherSession: isOtherSession,
            support: SubscriptionSupport(connAck, in: driver.protocolVersion), now: loop.now)
    }

    func disconnected() {
        actions += filters.disconnected(now: loop.now)
        perform()
    }

    // MARK: End of the session and of the client

    /// Removes the subscriptions of a destroyed session. The topics of the configuration and the filters of open
    /// readers remain.
    func removeAll() {
        // `filters` is replaced below, and the new set ignores the broker's responses to the pending requests. So end
        // these requests here.
        actions += filters.disconnected(now: loop.now)
        actions += filters.abandonWaiters()
        perform()
        let open = readers
        filters = SubscriptionSet(defaults: options.properties)
        isRestored = !hasStore
        wantAlways()
        for (_, reader) in open {
            let intent = SubscriptionSet.Intent(reader.filter, reader.qos)
            actions += (try? filters.want([intent], by: .reader(reader.id), now: loop.now)) ?? []
        }
        perform()
    }

    /// Fails all waiting callers, because the client has ended.
    func end(_ error: CourierError) {
        actions += filters.abandonWaiters()
        perform()
        for (_, waiter) in waiting { Self.fail(waiter.who, error) }
        waiting = [:]
        unresolved = []
    }

    // MARK: Performing actions

    /// Performs the pending actions in the order in which the subscription set returned them.
    func perform() {
        while !actions.isEmpty {
            let now = actions
            actions = []
            for action in now { perform(action) }
        }
    }

    private func perform(_ action: SubscriptionAction) {
        switch action {
        case .subscribe(let subscriptions, let id):
            filters.noteRetained(id, options, in: driver.protocolVersion)
            tell(.subscribeAttempt(topics: subscriptions.map(\.filter.string)))
            driver.subscribe(
                subscriptions.map {
                    options.entry(for: $0.filter, $0.qos, in: driver.protocolVersion, isRenewal: $0.isRenewal)
                },
                properties: properties(of: id, subscriptions.first?.identifier), token: Self.token(id))
        case .unsubscribe(let ended, let id):
            tell(.unsubscribeAttempt(topics: ended.map(\.string)))
            driver.unsubscribe(ended.map(\.string), properties: properties(of: id), token: Self.token(id))
        case .waiter(let id, let outcome): answer(id, outcome)
        case .endReaders(let ids, let filter, let failure):
            let error = Self.error(failure, .subscription(filter: filter.string))
            for id in ids { loops[id]?.end(error) }
        case .store(let change): keep(change)
        case .subscribeSucceeded(let granted, let time):
            tell(
                .subscribeSuccess(
                    topics: granted.map { ($0.filter.string, $0.qos) }, timeTaken: time.wholeMilliseconds))
        case .subscribeFailed(let asked, let failure, let time):
            let error = asked.first.map { Self.error(failure, .subscription(filter: $0.filter.string)) }
            tell(
                .subscribeFailure(
                    topics: asked.map { ($0.filter.string, $0.qos) }, timeTaken: time.wholeMilliseconds, error: error))
        case .unsubscribeSucceeded(let ended, let time):
            tell(.unsubscribeSuccess(topics: ended.map(\.string), timeTaken: time.wholeMilliseconds))
        case .unsubscribeFailed(let ended, let failure, let time):
            let error = ended.first.map { Self.error(failure, .unsubscription(filter: $0.string)) }
            tell(
                .unsubscribeFailure(
                    topics: ended.map(\.string), timeTaken: time.wholeMilliseconds, error: error))
        }
    }

    /// Returns the properties of a SUBSCRIBE or UNSUBSCRIBE. Before MQTT 5, returns an empty list.
    private func properties(
        of request: SubscriptionAction.RequestID, _ identifier: UInt32? = nil
    ) -> PacketProperties {
        guard driver.protocolVersion >= .v5 else { return [] }
        let identifiers = identifier.map { [Property.subscriptionIdentifier($0)] } ?? []
        return PacketProperties(identifiers + filters.userProperties(of: request).packetProperties)
    }

    private static func courierError(_ error: any Error) -> CourierError {
        (error as? CourierError) ?? CourierError(.invalidTopicFilter, "The topic filter cannot be used.", cause: error)
    }

    private static func token(_ id: SubscriptionAction.RequestID) -> Token {
        Token(rawValue: id.rawValue | tokenMark)
    }

    static func request(_ token: Token) -> SubscriptionAction.RequestID {
        SubscriptionAction.RequestID(rawValue: token.rawValue & ~tokenMark)
    }

    private func nextID() -> UInt64 {
        lastID += 1
        return lastID
    }
}
