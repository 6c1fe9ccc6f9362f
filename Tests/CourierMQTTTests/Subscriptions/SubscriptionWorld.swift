import CourierCore

@testable import CourierMQTT

/// A ``SubscriptionSet``, a model of a broker with a session, and the connection between them. The type is a value, so
/// that a test can continue from one state in several ways.
///
/// The broker performs a request when the request arrives. The answer arrives later. The connection may end before
/// each of these steps.
struct SubscriptionWorld {
    /// The possible next steps. An impossible step has no effect.
    enum Step: Hashable, CaseIterable {
        case appWantsLow, appWantsHigh, appUnwants
        case readerStarts, otherReaderStarts, readerEnds, otherReaderEnds
        case connect, connectWithoutSession, disconnect
        case brokerReceives, answerArrives
        case brokerStartsRefusing, brokerStopsRefusing
    }

    private enum Answer {
        case subAck(SubscriptionAction.RequestID, [ReasonCode])
        case unsubAck(SubscriptionAction.RequestID, [ReasonCode])
    }

    private static let instant = ContinuousClock.now

    private(set) var set = SubscriptionSet(limits: SubscriptionLimits(filtersPerPacket: 2, packetsInFlight: 2))
    /// The filters that the app and the readers request, computed independently of the set.
    private var appIntents: [TopicFilter: QoS] = [:]
    private var readerIntents: [TopicFilter: [UInt64: QoS]] = [:]
    // The broker.
    private(set) var subscriptions: [TopicFilter: QoS] = [:]
    private var refuses = false
    /// The filters that the client may treat as refused. They are not requested again on this connection.
    private var refused: Swift.Set<TopicFilter> = []
    // The connection.
    private(set) var isConnected = false
    private var requests: [SubscriptionAction] = []
    private var answers: [Answer] = []
    private var inFlight: Swift.Set<TopicFilter> = []
    // Who waits.
    private var lastWaiter: UInt64 = 0
    private(set) var waiters: Swift.Set<UInt64> = []
    /// The reader of a waiter.
    private var readerOfWaiter: [UInt64: (filter: TopicFilter, reader: UInt64)] = [:]
    /// The readers that have received an end and have not ended yet.
    private var endedReaders: [TopicFilter: Swift.Set<UInt64>] = [:]
    /// The expected content of a store.
    private var stored: [TopicFilter: StoredSubscription.Intent] = [:]
    /// The first violation; `nil` if there is none.
    private(set) var complaint: String?

    mutating func take(_ step: Step, _ filter: TopicFilter) {
        switch step {
        case .appWantsLow: appWants(filter, .zero)
        case .appWantsHigh: appWants(filter, .two)
        case .appUnwants:
            appIntents[filter] = nil
            let waiter = newWaiter()
            perform { try $0.unwant([(filter, waiter)], by: .app, now: Self.instant) }
        case .readerStarts: reads(filter, 1, .zero)
        case .otherReaderStarts: reads(filter, 2, .one)
        case .readerEnds: ends(filter, 1)
        case .otherReaderEnds: ends(filter, 2)
        case .connect: connect(sessionPresent: true)
        case .connectWithoutSession: connect(sessionPresent: false)
        case .disconnect: disconnect()
        case .brokerReceives: brokerReceives()
        case .answerArrives: answerArrives()
        case .brokerStartsRefusing: refuses = true
        case .brokerStopsRefusing: refuses = false
        }
    }

    /// Makes a new connection without failures, and waits until the client is at rest. Returns the first violation.
    mutating func settle(sessionPresent: Bool) -> String? {
        refuses = false
        disconnect()
        connect(sessionPresent: sessionPresent)
        rest()
        return complaint ?? problemAtRest()
    }

    /// Waits until the client is at rest on the present connection.
    mutating func rest() {
        var rounds = 0
        while !requests.isEmpty || !answers.isEmpty {
            if !requests.isEmpty { brokerReceives() } else { answerArrives() }
            rounds += 1
            if rounds > 1_000 { return complain("no rest") }
        }
    }

    /// Returns the violation of a client at rest on a connection: refused filters must not be requested again, and
    /// all other filters must be subscribed as requested.
    func problemAtRest() -> String? {
        for filter in Swift.Set(subscriptions.keys).union(wanted.keys) where !refused.contains(filter) {
            if subscriptions[filter] != wanted[filter] {
                return "\(filter): the broker has \(String(describing: subscriptions[filter])), "
                    + "wanted is \(String(describing: wanted[filter]))"
            }
        }
        if !waiters.isEmpty { return "\(waiters.sorted()) wait for ever" }
        for (filter, intent) in stored where appIntents[filter] == nil {
            if intent != .unsubscribing { return "\(filter) is kept as wanted" }
            if subscriptions[filter] == nil, !refused.contains(filter) { return "\(filter) is kept for nothing" }
        }
        for (filter, qos) in appIntents where stored[filter] != .subscribed(qos) { return "\(filter) is not kept" }
        for filter in subscriptions.keys where stored[filter] == nil { return "\(filter) would be left behind" }
        for filter in refused where subscriptions[filter] == nil {
            let readers = Swift.Set(readerIntents[filter, default: [:]].keys)
            let waiting = readers.subtracting(endedReaders[filter, default: []])
            if !waiting.isEmpty { return "\(waiting.sorted()) read \(filter) for ever, which is refused" }
        }
        return nil
    }

    private var wanted: [TopicFilter: QoS] {
        var wanted = appIntents
        for (filter, intents) in readerIntents {
            for qos in intents.values where qos.rawValue > (wanted[filter]?.rawValue ?? -1) { wanted[filter] = qos }
        }
        return wanted
    }
}

// MARK: - The client

extension SubscriptionWorld {
    private mutating func appWants(_ filter: TopicFilter, _ qos: QoS) {
        appIntents[filter] = qos
        let intent = SubscriptionSet.Intent(filter, qos, waiter: newWaiter())
        perform { try $0.want([intent], by: .app, now: Self.instant) }
    }

    private mutating func reads(_ filter: TopicFilter, _ reader: UInt64, _ qos: QoS) {
        guard readerIntents[filter]?[reader] == nil else { return }
        readerIntents[filter, default: [:]][reader] = qos
        let waiter = newWaiter()
        readerOfWaiter[waiter] = (filter, reader)
        let intent = SubscriptionSet.Intent(filter, qos, waiter: waiter)
        perform { try $0.want([intent], by: .reader(reader), now: Self.instant) }
    }

    private mutating func ends(_ filter: TopicFilter, _ reader: UInt64) {
        guard readerIntents[filter]?.removeValue(forKey: reader) != nil else { return }
        endedReaders[filter]?.remove(reader)
        perform { try $0.unwant([(filter, nil)], by: .reader(reader), now: Self.instant) }
    }

    private mutating func newWaiter() -> UInt64 {
        lastWaiter += 1
        waiters.insert(lastWaiter)
        return lastWaiter
    }

    private mutating func perform(_ input: (inout SubscriptionSet) throws -> [SubscriptionAction]) {
        do {
            let actions = try input(&set)
            for action in actions { perform(action) }
            for case .endReaders(_, let filter, _) in actions where inFlight.contains(filter) {
                complain("readers of \(filter) end while it is asked for")
            }
        } catch {
            complain("\(error)")
        }
    }

    private mutating func perform(_ action: SubscriptionAction) {
        switch action {
        case .subscribe(let asked, _): sent(asked.map(\.filter), action)
        case .unsubscribe(let filters, _): sent(filters, action)
        case .waiter(let id, let outcome):
            if waiters.remove(id) == nil { complain("\(id) is answered twice, at last with \(outcome)") }
            if let (filter, reader) = readerOfWaiter.removeValue(forKey: id), case .failed = outcome {
                endedReaders[filter, default: []].insert(reader)
            }
        case .endReaders(let readers, let filter, _):
            for reader in readers {
                if readerIntents[filter]?[reader] == nil { complain("\(reader) ends and does not read \(filter)") }
                endedReaders[filter, default: []].insert(reader)
            }
        case .store(.want(let subscription)): stored[subscription.filter] = subscription.intent
        case .store(.forgetSubscription(let filter)): stored[filter] = nil
        case .store(let change): complain("the store is told \(change)")
        case .subscribeSucceeded(let subscriptions, _): ended(subscriptions.map(\.filter))
        case .subscribeFailed(let subscriptions, _, _): ended(subscriptions.map(\.filter))
        case .unsubscribeSucceeded(let filters, _), .unsubscribeFailed(let filters, _, _): ended(filters)
        }
    }

    private mutating func sent(_ filters: [TopicFilter], _ action: SubscriptionAction) {
        if !isConnected { complain("sent without a connection") }
        if filters.isEmpty || filters.count > 2 { complain("a packet of \(filters.count) filters") }
        for filter in filters {
            // The end of an attempt is reported after the answers to waiters, and before the next attempt.
            if !inFlight.insert(filter).inserted { complain("two packets for \(filter) at a time") }
            if stored[filter] == nil { complain("\(filter) was sent before it was stored") }
        }
        requests.append(action)
        if requests.count + answers.count > 2 { complain("too many packets in flight") }
    }

    private mutating func ended(_ filters: [TopicFilter]) {
        for filter in filters where inFlight.remove(filter) == nil { complain("\(filter) ended without an attempt") }
    }

    private mutating func complain(_ text: String) { complaint = complaint ?? text }
}

// MARK: - The connection and the broker

extension SubscriptionWorld {
    private mutating func connect(sessionPresent: Bool) {
        guard !isConnected else { return }
        isConnected = true
        refused = []
        if !sessionPresent { subscriptions = [:] }
        perform { $0.connected(sessionPresent: sessionPresent, now: Self.instant) }
    }

    private mutating func disconnect() {
        guard isConnected else { return }
        isConnected = false
        (requests, answers) = ([], [])
        perform { $0.disconnected(now: Self.instant) }
        if !inFlight.isEmpty { complain("an attempt has no end") }
    }

    private mutating func brokerReceives() {
        guard !requests.isEmpty else { return }
        switch requests.removeFirst() {
        case .subscribe(let asked, let id):
            answers.append(
                .subAck(
                    id,
                    asked.map { subscription in
                        if refuses {
                            refused.insert(subscription.filter)
                            return .notAuthorized
                        }
                        refused.remove(subscription.filter)
                        subscriptions[subscription.filter] = subscription.qos
                        return ReasonCode(rawValue: subscription.qos.wireLevel)
                    }))
        case .unsubscribe(let filters, let id):
            answers.append(
                .unsubAck(
                    id,
                    filters.map { filter in
                        if refuses {
                            refused.insert(filter)
                            return .notAuthorized
                        }
                        refused.remove(filter)
                        return subscriptions.removeValue(forKey: filter) == nil ? .noSubscriptionExisted : .success
                    }))
        default: complain("the broker got what is no packet")
        }
    }

    private mutating func answerArrives() {
        guard !answers.isEmpty else { return }
        switch answers.removeFirst() {
        case .subAck(let id, let codes): perform { $0.subAck(id, codes, now: Self.instant) }
        case .unsubAck(let id, let codes): perform { $0.unsubAck(id, codes, now: Self.instant) }
        }
    }
}
