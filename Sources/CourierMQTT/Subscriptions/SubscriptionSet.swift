import CourierCore

/// The topic filters that a client wants, and what its broker has of them: wishes are kept, not packets.
///
/// ```
/// wishes of the app and of readers ─┐
///                                   ├─▶ difference ─▶ SUBSCRIBE / UNSUBSCRIBE, at most one per filter under way
/// answers of the broker ────────────┘
/// ```
///
/// Without a session, a new connection is asked for everything that is wanted; with one, only for what differs from
/// what the broker has confirmed, which includes unsubscribing what was under way when the connection ended. What the
/// broker refuses is not asked for again on the same connection, unless with another quality of service or after it was
/// unsubscribed, and is on the next one. Filters that match topics in common get identifiers, so that the copies of a
/// message for each of them can be told apart.
///
/// Perform the returned actions in order. Nothing here needs a lock or a clock: the caller brings both.
struct SubscriptionSet: Sendable {
    typealias Action = SubscriptionAction
    typealias RequestID = SubscriptionAction.RequestID
    typealias Instant = ContinuousClock.Instant

    /// Who wants a filter.
    enum Wisher: Hashable, Sendable {
        /// The app, by `subscribe` or its configuration. It wants a filter once, however often it says so.
        case app
        /// A reader, under a name that no other reader has.
        case reader(UInt64)
    }

    /// A packet that the broker has not answered.
    private struct Pending: Sendable {
        /// The entries, in the order of the packet.
        let entries: [Int]
        let requests: [SubscriptionEntry.Request]
        let sentAt: Instant
    }

    private let limits: SubscriptionLimits
    /// In the order in which filters came; a place is used again.
    private(set) var entries: [SubscriptionEntry?] = []
    private var vacant: [Int] = []
    private(set) var places: [TopicFilter: Int] = [:]
    private var queue = PlaceQueue()
    private var pending: [RequestID: Pending] = [:]
    private var lastRequest: UInt64 = 0
    private var waiterCount = 0
    /// The largest packet that the broker takes; `nil` without a connection.
    private var packetLimit: Int?
    /// `nil` while the broker knows of none.
    private(set) var identifiers: SubscriptionIdentifiers?

    init(limits: SubscriptionLimits = SubscriptionLimits()) { self.limits = limits }

    /// How many filters are known.
    var count: Int { places.count }

    /// Whether there is a filter that somebody wants.
    var hasWishes: Bool { entries.contains { $0?.wanted != nil } }

    /// What the broker is asked for with a filter, `nil` when nobody wants it.
    func wanted(_ filter: TopicFilter) -> QoS? { places[filter].flatMap { entries[$0]?.wanted } }

    /// What the broker granted for a filter, `nil` when it has not or nobody knows.
    func granted(_ filter: TopicFilter) -> QoS? {
        guard let place = places[filter], case .subscribed(_, let qos)? = entries[place]?.confirmed else { return nil }
        return qos
    }
}

// MARK: - Wishes

extension SubscriptionSet {
    /// One filter to be wanted.
    struct Wish: Sendable {
        let filter: TopicFilter
        let qos: QoS
        /// Who is to be told how it ended; an id that nobody else has.
        let waiter: UInt64?

        init(_ filter: TopicFilter, _ qos: QoS, waiter: UInt64? = nil) {
            self.filter = filter
            self.qos = qos
            self.waiter = waiter
        }
    }

    /// Takes over what the store kept, before the first connection. Limits do not apply to it: nothing of it is lost. What
    /// the app has wanted of a filter since is newer and stays.
    ///
    /// - Parameter subscriptions: What was kept.
    mutating func restore(_ subscriptions: [StoredSubscription]) {
        for subscription in subscriptions {
            let place = place(for: subscription.filter)
            entries[place]?.confirmed = .unknown
            if case .subscribed(let qos) = subscription.intent, entries[place]?.appWish == nil {
                entries[place]?.appWish = qos.asSubscribed
            }
            entries[place]?.stored = subscription.intent
        }
    }

    /// Somebody wants filters; a wisher's new quality of service replaces its old one.
    ///
    /// - Parameters:
    ///   - wishes: The filters, each with who is to be told how it ended.
    ///   - wisher: Who wants them.
    ///   - now: The present.
    /// - Returns: What is to be done.
    /// - Throws: ``CourierError/Code-swift.struct/queueFull`` at a limit; then nothing has changed.
    mutating func want(_ wishes: [Wish], by wisher: Wisher, now: Instant) throws -> [Action] {
        try checkRoom(for: wishes)
        var actions: [Action] = []
        for wish in wishes {
            let place = place(for: wish.filter)
            let qos = wish.qos.asSubscribed
            switch wisher {
            case .app: entries[place]?.appWish = qos
            case .reader(let id): entries[place]?.readerWishes[id] = qos
            }
            if let waiter = wish.waiter { add(waiter, .subscribe(qos), at: place) }
            changed(place, &actions)
        }
        send(now, &actions)
        return actions
    }

    /// Somebody wants filters no more. A filter that others want stays, with the highest quality of service that is
    /// left.
    ///
    /// - Parameters:
    ///   - filters: The filters, each with who is to be told how it ended.
    ///   - wisher: Who wanted them.
    ///   - now: The present.
    /// - Returns: What is to be done.
    /// - Throws: ``CourierError/Code-swift.struct/queueFull`` when too many wait; then nothing has changed.
    mutating func unwant(
        _ filters: [(filter: TopicFilter, waiter: UInt64?)], by wisher: Wisher, now: Instant
    ) throws -> [Action] {
        try checkWaiters(filters.count { $0.waiter != nil })
        var actions: [Action] = []
        for (filter, waiter) in filters {
            guard let place = places[filter] else {
                if let waiter { actions.append(.waiter(waiter, .unsubscribed)) }
                continue
            }
            switch wisher {
            case .app: entries[place]?.appWish = nil
            case .reader(let id): entries[place]?.readerWishes[id] = nil
            }
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

    /// Forgets who waits for a filter without an answer; what is wanted stays.
    mutating func forget(waiter id: UInt64, of filter: TopicFilter) {
        guard let place = places[filter], var entry = entries[place] else { return }
        let before = entry.waiters.count
        entry.waiters.removeAll { $0.id == id }
        waiterCount -= before - entry.waiters.count
        entries[place] = entry
        removeIfSpent(place)
    }

    /// The client is given up: nobody waits any longer.
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

    private func checkRoom(for wishes: [Wish]) throws {
        let added = Set(wishes.lazy.map(\.filter).filter { places[$0] == nil }).count
        guard added == 0 || count + added <= limits.maximumFilters else {
            throw CourierError(
                .queueFull,
                "\(count) topic filters are known already and at most \(limits.maximumFilters) may be: unsubscribe some, "
                    + "or cover several by one with a wildcard.")
        }
        try checkWaiters(wishes.count { $0.waiter != nil })
    }

    private func checkWaiters(_ added: Int) throws {
        guard added == 0 || waiterCount + added <= limits.maximumWaiters else {
            throw CourierError(
                .queueFull,
                "\(waiterCount) calls wait for the broker's answer to a subscription and at most "
                    + "\(limits.maximumWaiters) may: wait for some to end, or use the forms that wait for no answer.")
        }
    }
}

// MARK: - What the broker says

extension SubscriptionSet {
    /// The broker has accepted the connection.
    ///
    /// - Parameters:
    ///   - sessionPresent: Whether it has a session.
    ///   - isOtherSession: Whether that may be another one than the one that it confirmed things for; `false` by default.
    ///   - maximumPacketSize: The largest packet that it takes; without limit by default.
    ///   - hasIdentifiers: Whether subscriptions may have identifiers; `false` by default.
    ///   - now: The present.
    /// - Returns: What is to be done.
    mutating func connected(
        sessionPresent: Bool, isOtherSession: Bool = false, maximumPacketSize: Int = .max,
        hasIdentifiers: Bool = false, now: Instant
    ) -> [Action] {
        var actions = disconnected(now: now)
        packetLimit = maximumPacketSize
        if hasIdentifiers != (identifiers != nil) { useIdentifiers(hasIdentifiers) }
        if !sessionPresent { identifiers?.forgetGone() }
        for place in entries.indices {
            guard place < entries.count, entries[place] != nil else { continue }
            if !sessionPresent {
                entries[place]?.confirmed = .absent
            } else if isOtherSession, entries[place]?.confirmed != .absent {
                entries[place]?.confirmed = .unknown
            }
            entries[place]?.failed = nil
            changed(place, &actions)
        }
        send(now, &actions)
        return actions
    }

    /// The connection has ended: what was under way may have been done or not.
    mutating func disconnected(now: Instant) -> [Action] {
        var actions: [Action] = []
        packetLimit = nil
        for place in queue.removeAll() {
            entries[place]?.isQueued = false
            removeIfSpent(place)
        }
        for id in pending.keys.sorted(by: { $0.rawValue < $1.rawValue }) {
            give(up: id, .connectionLost, now: now, &actions)
        }
        return actions
    }

    /// The broker has answered SUBSCRIBE, with a code for each filter.
    mutating func subAck(_ id: RequestID, _ codes: [ReasonCode], now: Instant) -> [Action] {
        answered(id, now: now) { index, request, entry in
            let code = index < codes.count ? codes[index] : .unspecifiedError
            guard case .subscribe(let asked) = request, let granted = QoS(granted: code) else {
                return .refused(code.isError ? code : .protocolError)
            }
            entry.confirmed = .subscribed(asked: asked, granted: granted)
            entry.confirmedIdentifier = entry.identifierInFlight
            return nil
        }
    }

    /// The broker has answered UNSUBSCRIBE: with a code for each filter, or none before MQTT 5, which is success.
    mutating func unsubAck(_ id: RequestID, _ codes: [ReasonCode], now: Instant) -> [Action] {
        answered(id, now: now) { index, _, entry in
            let code = index < codes.count ? codes[index] : .success
            if code.isError { return .refused(code) }
            entry.confirmed = .absent
            return nil
        }
    }

    /// A packet will not be answered: the connection was lost, or the packet could not be sent.
    ///
    /// What could not be sent is not tried again on this connection, and those who wait for it are told so.
    mutating func failed(_ id: RequestID, _ failure: Action.Failure, now: Instant) -> [Action] {
        var actions: [Action] = []
        give(up: id, failure, now: now, &actions)
        send(now, &actions)
        return actions
    }

    /// Takes an answer in: `judge` brings each entry up to date, or says why not. An answer to a request of an earlier
    /// connection is none.
    private mutating func answered(
        _ id: RequestID, now: Instant,
        _ judge: (Int, SubscriptionEntry.Request, inout SubscriptionEntry) -> Action.Failure?
    ) -> [Action] {
        guard let packet = pending.removeValue(forKey: id) else { return [] }
        var report = SubscriptionReport(timeTaken: now - packet.sentAt)
        var actions: [Action] = []
        for (index, place) in packet.entries.enumerated() {
            guard var entry = entries[place] else { continue }
            let request = packet.requests[index]
            entry.inFlight = nil
            if let failure = judge(index, request, &entry) {
                entry.failed = (request, failure)
                report.failed(entry, request, failure)
            } else {
                entry.failed = nil
                report.succeeded(entry)
                answer(entry.reached(), &actions)
            }
            entries[place] = entry
            changed(place, &actions)
        }
        report.append(to: &actions)
        send(now, &actions)
        return actions
    }

    private mutating func give(
        up id: RequestID, _ failure: Action.Failure, now: Instant, _ actions: inout [Action]
    ) {
        guard let packet = pending.removeValue(forKey: id) else { return }
        var report = SubscriptionReport(timeTaken: now - packet.sentAt)
        for (place, request) in zip(packet.entries, packet.requests) {
            guard var entry = entries[place] else { continue }
            entry.inFlight = nil
            if failure == .connectionLost { entry.confirmed = .unknown }
            entry.failed = (request, failure)
            report.failed(entry, request, failure)
            entries[place] = entry
            changed(place, &actions)
        }
        report.append(to: &actions)
    }
}

// MARK: - The difference

extension SubscriptionSet {
    /// Looks at an entry that may have changed: answers who need not wait, tells the store, and notes what is to be
    /// asked.
    private mutating func changed(_ place: Int, _ actions: inout [Action]) {
        compare(place)
        guard var entry = entries[place] else { return }
        answer(entry.settled(), &actions)
        // A fresh start for who wants it again.
        if entry.wanted == nil, entry.confirmed == .absent { entry.failed = nil }
        if let change = entry.changeToStore() { actions.append(.store(change)) }
        entries[place] = entry
        enqueue(place)
        removeIfSpent(place)
    }

    /// Notes that the broker has to be asked for something, if it has. What only gets an identifier goes first: what the
    /// broker sends for a new filter is to come when it tells the others apart.
    private mutating func enqueue(_ place: Int) {
        guard packetLimit != nil, let entry = entries[place], entry.due != nil, !entry.isQueued else { return }
        entries[place]?.isQueued = true
        queue.append(place, isUrgent: entry.isRenewal)
    }

    /// Gives identifiers to an entry that is new and to those that match topics in common with it.
    private mutating func compare(_ place: Int) {
        guard identifiers != nil, let entry = entries[place], entry.wanted != nil, !entry.isCompared else { return }
        entries[place]?.isCompared = true
        let known = entries.lazy.compactMap { $0?.filter }
        for filter in identifiers?.add(entry.filter, beside: known) ?? [] {
            guard let other = places[filter] else { continue }
            entries[other]?.identifier = identifiers?[filter]
            if other != place { enqueue(other) }
        }
    }

    /// Whether a filter is being subscribed to without the identifier that it was given since: what has topics in common
    /// with it waits until it has that.
    private var isIdentifying: Bool {
        identifiers != nil
            && pending.values.contains { packet in
                packet.entries.contains { place in
                    guard let entry = entries[place], case .subscribe? = entry.inFlight else { return false }
                    return entry.identifierInFlight != entry.identifier
                }
            }
    }

    private mutating func useIdentifiers(_ areUsed: Bool) {
        identifiers = areUsed ? SubscriptionIdentifiers() : nil
        for place in entries.indices where entries[place] != nil {
            entries[place]?.identifier = nil
            entries[place]?.isCompared = false
        }
    }

    private mutating func answer(_ answers: [SubscriptionEntry.Answer], _ actions: inout [Action]) {
        for answer in answers { actions.append(.waiter(answer.waiter, answer.outcome)) }
        waiterCount -= answers.count
    }

    /// Asks for what is due, as far as the limits allow.
    private mutating func send(_ now: Instant, _ actions: inout [Action]) {
        guard let packetLimit else { return }
        let size = min(limits.bytesPerPacket, packetLimit)
        var subscribe = SubscriptionBatch(maximumCount: limits.filtersPerPacket, maximumSize: size)
        var unsubscribe = subscribe
        let isIdentifying = isIdentifying
        while let place = queue.first {
            guard let entry = entries[place], let request = entry.due else {
                takeFirstQueued(place)
                removeIfSpent(place)
                continue
            }
            if isIdentifying, entry.identifier != nil, !entry.isRenewal, request != .unsubscribe { break }
            if SubscriptionBatch.size(ofPacketWith: entry) > packetLimit {
                takeFirstQueued(place)
                entries[place]?.failed = (request, .notSent)
                changed(place, &actions)
                continue
            }
            let hasTaken =
                request == .unsubscribe
                ? append(place, entry, request, to: &unsubscribe, beside: subscribe, now, &actions)
                : append(place, entry, request, to: &subscribe, beside: unsubscribe, now, &actions)
            if !hasTaken { break }
        }
        emit(&subscribe, now, &actions)
        emit(&unsubscribe, now, &actions)
    }

    /// Moves the first of the queue to its packet; `false` when that would be one packet too many.
    private mutating func append(
        _ place: Int, _ entry: SubscriptionEntry, _ request: SubscriptionEntry.Request,
        to batch: inout SubscriptionBatch, beside other: SubscriptionBatch, _ now: Instant,
        _ actions: inout [Action]
    ) -> Bool {
        if !batch.isEmpty, !batch.hasRoom(for: entry, request) { emit(&batch, now, &actions) }
        if batch.isEmpty, pending.count + (other.isEmpty ? 0 : 1) >= max(limits.packetsInFlight, 1) { return false }
        takeFirstQueued(place)
        batch.append(place, entry, request)
        return true
    }

    private mutating func takeFirstQueued(_ place: Int) {
        queue.removeFirst()
        entries[place]?.isQueued = false
    }

    private mutating func emit(_ batch: inout SubscriptionBatch, _ now: Instant, _ actions: inout [Action]) {
        guard !batch.isEmpty else { return }
        lastRequest += 1
        let id = RequestID(rawValue: lastRequest)
        pending[id] = Pending(entries: batch.places, requests: batch.requests, sentAt: now)
        for (place, request) in zip(batch.places, batch.requests) {
            entries[place]?.begin(request)
            if let change = entries[place]?.changeToStore() { actions.append(.store(change)) }
        }
        actions.append(batch.action(id))
        batch.removeAll()
    }
}

// MARK: - Entries

extension SubscriptionSet {
    private mutating func place(for filter: TopicFilter) -> Int {
        if let place = places[filter] { return place }
        let place = vacant.popLast() ?? entries.count
        if place == entries.count { entries.append(nil) }
        entries[place] = SubscriptionEntry(filter)
        places[filter] = place
        return place
    }

    private mutating func add(_ waiter: UInt64, _ wish: SubscriptionEntry.Request, at place: Int) {
        entries[place]?.waiters.append(SubscriptionEntry.Waiter(id: waiter, wish: wish))
        waiterCount += 1
    }

    private mutating func removeIfSpent(_ place: Int) {
        guard let entry = entries[place], entry.isSpent else { return }
        places[entry.filter] = nil
        identifiers?.remove(entry.filter)
        entries[place] = nil
        vacant.append(place)
        if places.isEmpty { (entries, vacant, places) = ([], [], [:]) }
    }
}

extension QoS {
    /// What a code of SUBACK grants, `nil` when it grants nothing.
    fileprivate init?(granted code: ReasonCode) {
        switch code {
        case .grantedQoS0: self = .zero
        case .grantedQoS1: self = .one
        case .grantedQoS2: self = .two
        default: return nil
        }
    }
}
