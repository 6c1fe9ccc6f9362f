import CourierCore
import TestSupport
import Testing

@testable import CourierMQTT

@Suite struct SubscriptionSetTests {
    typealias Action = SubscriptionAction
    typealias Subscription = SubscriptionAction.Subscription

    let start = ContinuousClock.now
    let a: TopicFilter
    let b: TopicFilter

    init() throws {
        a = try TopicFilter("a/#")
        b = try TopicFilter("b")
    }

    func request(_ number: UInt64) -> Action.RequestID { Action.RequestID(rawValue: number) }

    /// Returns the actions without store actions, which have their own tests.
    func visible(_ actions: [Action]) -> [Action] {
        actions.filter { if case .store = $0 { false } else { true } }
    }

    private func stored(_ actions: [Action]) -> [StoreChange] {
        actions.compactMap { if case .store(let change) = $0 { change } else { nil } }
    }

    /// A set whose broker has granted `a` with QoS 1.
    private func granted() throws -> SubscriptionSet {
        var set = SubscriptionSet()
        _ = set.connected(sessionPresent: false, now: start)
        _ = try set.want([.init(a, .one)], by: .app, now: start)
        _ = set.subAck(request(1), [.grantedQoS1], now: start)
        return set
    }

    @Test func `filters that are subscribed before the connection are sent in one SUBSCRIBE`() throws {
        var set = SubscriptionSet()
        #expect(visible(try set.want([.init(a, .one, waiter: 7)], by: .app, now: start)).isEmpty)
        #expect(visible(try set.want([.init(b, .two)], by: .reader(1), now: start)).isEmpty)
        let asked = Action.subscribe([Subscription(a, .one), Subscription(b, .two)], request(1))
        #expect(visible(set.connected(sessionPresent: false, now: start)) == [asked])
        let later = start + .milliseconds(30)
        #expect(
            visible(set.subAck(request(1), [.grantedQoS1, .grantedQoS0], now: later)) == [
                .waiter(7, .granted(.one)),
                .subscribeSucceeded([Subscription(a, .one), Subscription(b, .zero)], timeTaken: .milliseconds(30)),
            ])
        #expect(set.granted(a) == .one)
        #expect(set.granted(b) == .zero)
    }

    @Test func `only new filters are sent if the session is present, otherwise all filters`() throws {
        var set = try granted()
        _ = set.disconnected(now: start)
        #expect(visible(try set.want([.init(b, .zero)], by: .app, now: start)).isEmpty)
        let difference = Action.subscribe([Subscription(b, .zero)], request(2))
        #expect(visible(set.connected(sessionPresent: true, now: start)) == [difference])
        _ = set.subAck(request(2), [.grantedQoS0], now: start)
        _ = set.disconnected(now: start)
        #expect(visible(set.connected(sessionPresent: true, now: start)).isEmpty)
        _ = set.disconnected(now: start)
        let all = Action.subscribe([Subscription(a, .one), Subscription(b, .zero)], request(3))
        #expect(visible(set.connected(sessionPresent: false, now: start)) == [all])
        _ = set.subAck(request(3), [.grantedQoS1, .grantedQoS0], now: start)
        _ = set.disconnected(now: start)
        // The session may differ from the session that granted the filters, so all filters are sent again.
        let again = Action.subscribe([Subscription(a, .one), Subscription(b, .zero)], request(4))
        #expect(visible(set.connected(sessionPresent: true, isOtherSession: true, now: start)) == [again])
    }

    @Test func `UNSUBSCRIBE is sent on each connection until UNSUBACK arrives or the broker has a new session`() throws
    {
        var set = try granted()
        _ = set.disconnected(now: start)
        #expect(visible(try set.unwant([(a, 5)], by: .app, now: start)).isEmpty)
        #expect(visible(set.connected(sessionPresent: true, now: start)) == [.unsubscribe([a], request(2))])
        #expect(
            visible(set.disconnected(now: start)) == [.unsubscribeFailed([a], .connectionLost, timeTaken: .zero)])
        #expect(visible(set.connected(sessionPresent: true, now: start)) == [.unsubscribe([a], request(3))])
        var lost = set
        #expect(
            visible(set.unsubAck(request(3), [], now: start)) == [
                .waiter(5, .unsubscribed), .unsubscribeSucceeded([a], timeTaken: .zero),
            ])
        #expect(set.count == 0)
        _ = lost.disconnected(now: start)
        #expect(visible(lost.connected(sessionPresent: false, now: start)) == [.waiter(5, .unsubscribed)])
        #expect(lost.count == 0)
    }

    @Test func `a SUBSCRIBE without SUBACK is sent again on the next connection`() throws {
        var set = SubscriptionSet()
        _ = set.connected(sessionPresent: false, now: start)
        _ = try set.want([.init(a, .one, waiter: 1)], by: .app, now: start)
        let lost = Action.subscribeFailed([Subscription(a, .one)], .connectionLost, timeTaken: .zero)
        #expect(visible(set.failed(request(1), .connectionLost, now: start)) == [lost])
        #expect(set.disconnected(now: start).isEmpty)
        let again = Action.subscribe([Subscription(a, .one)], request(2))
        #expect(visible(set.connected(sessionPresent: true, now: start)) == [again])
        #expect(set.subAck(request(1), [.grantedQoS1], now: start).isEmpty, "the answer to an older request is none")
        #expect(visible(set.subAck(request(2), [.grantedQoS1], now: start)).first == .waiter(1, .granted(.one)))
    }

    @Test func `if a filter is refused, only its callers get an error, and the next connection sends the filter again`()
        throws
    {
        var set = SubscriptionSet()
        _ = set.connected(sessionPresent: true, now: start)
        _ = try set.want([.init(a, .one, waiter: 1), .init(b, .one, waiter: 2)], by: .app, now: start)
        #expect(
            visible(set.subAck(request(1), [.notAuthorized, .grantedQoS1], now: start)) == [
                .waiter(1, .failed(.refused(.notAuthorized))), .waiter(2, .granted(.one)),
                .subscribeSucceeded([Subscription(b, .one)], timeTaken: .zero),
                .subscribeFailed([Subscription(a, .one)], .refused(.notAuthorized), timeTaken: .zero),
            ])
        let again = try set.want([.init(a, .one, waiter: 3)], by: .app, now: start)
        #expect(visible(again) == [.waiter(3, .failed(.refused(.notAuthorized)))])
        _ = set.disconnected(now: start)
        let asked = Action.subscribe([Subscription(a, .one)], request(2))
        #expect(visible(set.connected(sessionPresent: true, now: start)) == [asked])
    }

    @Test func `without a connection, subscribe() to a filter that was refused earlier waits for the next connection`()
        throws
    {
        var set = SubscriptionSet()
        _ = set.connected(sessionPresent: false, now: start)
        _ = try set.want([.init(a, .one), .init(b, .one)], by: .app, now: start)
        _ = set.subAck(request(1), [.notAuthorized, .grantedQoS1], now: start)
        _ = try set.unwant([(b, nil)], by: .app, now: start)
        _ = set.unsubAck(request(2), [.notAuthorized], now: start)
        #expect(set.disconnected(now: start).isEmpty)
        #expect(visible(try set.want([.init(a, .one, waiter: 1)], by: .app, now: start)).isEmpty)
        #expect(visible(try set.unwant([(b, 2)], by: .app, now: start)).isEmpty)
        #expect(
            visible(set.connected(sessionPresent: true, now: start)) == [
                .subscribe([Subscription(a, .one)], request(3)), .unsubscribe([b], request(4)),
            ])
        #expect(visible(set.subAck(request(3), [.grantedQoS1], now: start)).first == .waiter(1, .granted(.one)))
        #expect(visible(set.unsubAck(request(4), [], now: start)).first == .waiter(2, .unsubscribed))
    }

    @Test func `a refused filter is sent again with another QoS or after an unsubscribe`() throws {
        var set = SubscriptionSet()
        _ = set.connected(sessionPresent: false, now: start)
        _ = try set.want([.init(a, .two)], by: .app, now: start)
        _ = set.subAck(request(1), [.qosNotSupported], now: start)
        let lower = try set.want([.init(a, .one)], by: .app, now: start)
        #expect(visible(lower) == [.subscribe([Subscription(a, .one)], request(2))])
        _ = set.subAck(request(2), [.unspecifiedError], now: start)
        #expect(visible(try set.unwant([(a, 4)], by: .app, now: start)) == [.waiter(4, .unsubscribed)])
        #expect(set.count == 0)
        let fresh = try set.want([.init(a, .one)], by: .app, now: start)
        #expect(visible(fresh) == [.subscribe([Subscription(a, .one)], request(3))])
    }

    @Test func `a refused SUBSCRIBE ends the readers of its filter only if the refused QoS is still the requested QoS`()
        throws
    {
        var set = SubscriptionSet()
        _ = try set.want([.init(a, .two)], by: .reader(1), now: start)
        _ = try set.want([.init(a, .one)], by: .reader(2), now: start)
        #expect(
            visible(set.connected(sessionPresent: false, now: start)) == [
                .subscribe([Subscription(a, .two)], request(1))
            ])
        #expect(visible(try set.unwant([(a, nil)], by: .reader(1), now: start)).isEmpty)
        #expect(
            visible(set.subAck(request(1), [.notAuthorized], now: start)) == [
                .subscribeFailed([Subscription(a, .two)], .refused(.notAuthorized), timeTaken: .zero),
                .subscribe([Subscription(a, .one)], request(2)),
            ])
        #expect(
            visible(set.subAck(request(2), [.notAuthorized], now: start)) == [
                .endReaders([2], a, .refused(.notAuthorized)),
                .subscribeFailed([Subscription(a, .one)], .refused(.notAuthorized), timeTaken: .zero),
            ])
    }

    @Test func `after a request for a higher QoS is withdrawn, the refused lower QoS is requested again`() throws {
        var set = SubscriptionSet(limits: SubscriptionLimits(filtersPerPacket: 1, packetsInFlight: 1))
        _ = set.connected(sessionPresent: false, now: start)
        _ = try set.want([.init(a, .one)], by: .reader(1), now: start)
        _ = try set.want([.init(b, .one), .init(a, .two)], by: .app, now: start)
        #expect(
            visible(set.subAck(request(1), [.notAuthorized], now: start)) == [
                .subscribeFailed([Subscription(a, .one)], .refused(.notAuthorized), timeTaken: .zero),
                .subscribe([Subscription(b, .one)], request(2)),
            ])
        #expect(visible(try set.unwant([(a, nil)], by: .app, now: start)).isEmpty)
        #expect(
            visible(set.subAck(request(2), [.grantedQoS1], now: start)) == [
                .subscribeSucceeded([Subscription(b, .one)], timeTaken: .zero),
                .subscribe([Subscription(a, .one)], request(3)),
            ])
        #expect(
            visible(set.subAck(request(3), [.notAuthorized], now: start)).first
                == .endReaders([1], a, .refused(.notAuthorized)))
    }

    @Test func `the highest QoS of all readers is requested, and UNSUBSCRIBE is sent after the last reader ends`()
        throws
    {
        var set = SubscriptionSet()
        _ = set.connected(sessionPresent: false, now: start)
        _ = try set.want([.init(a, .zero)], by: .reader(1), now: start)
        _ = set.subAck(request(1), [.grantedQoS0], now: start)
        let raised = try set.want([.init(a, .two)], by: .reader(2), now: start)
        #expect(visible(raised) == [.subscribe([Subscription(a, .two)], request(2))])
        _ = set.subAck(request(2), [.grantedQoS2], now: start)
        #expect(visible(try set.want([.init(a, .one)], by: .reader(3), now: start)).isEmpty)
        let lowered = try set.unwant([(a, nil)], by: .reader(2), now: start)
        #expect(visible(lowered) == [.subscribe([Subscription(a, .one)], request(3))])
        _ = set.subAck(request(3), [.grantedQoS1], now: start)
        #expect(visible(try set.unwant([(a, nil)], by: .reader(1), now: start)).isEmpty)
        #expect(visible(try set.unwant([(a, nil)], by: .reader(3), now: start)) == [.unsubscribe([a], request(4))])
    }

    @Test func `a filter stays subscribed as long as the app or a reader uses it`() throws {
        var set = try granted()
        _ = try set.want([.init(a, .one)], by: .reader(1), now: start)
        #expect(visible(try set.unwant([(a, nil)], by: .reader(1), now: start)).isEmpty)
        #expect(set.wanted(a) == .one)
        _ = try set.want([.init(a, .one)], by: .reader(2), now: start)
        #expect(visible(try set.unwant([(a, 9)], by: .app, now: start)) == [.waiter(9, .unsubscribed)])
        #expect(set.wanted(a) == .one)
    }

    @Test func `after subscribe, unsubscribe and subscribe before SUBACK, the filter is subscribed`() throws {
        var set = SubscriptionSet()
        _ = set.connected(sessionPresent: false, now: start)
        _ = try set.want([.init(a, .one, waiter: 1)], by: .app, now: start)
        #expect(visible(try set.unwant([(a, 2)], by: .app, now: start)).isEmpty, "one packet per filter at a time")
        #expect(visible(try set.want([.init(a, .one, waiter: 3)], by: .app, now: start)).isEmpty)
        #expect(
            visible(set.subAck(request(1), [.grantedQoS1], now: start)) == [
                .waiter(1, .granted(.one)), .waiter(3, .granted(.one)), .waiter(2, .superseded),
                .subscribeSucceeded([Subscription(a, .one)], timeTaken: .zero),
            ])
    }

    @Test func `if subscribe() is called before UNSUBACK, SUBSCRIBE is sent after UNSUBACK`() throws {
        var set = try granted()
        #expect(visible(try set.unwant([(a, 1)], by: .app, now: start)) == [.unsubscribe([a], request(2))])
        #expect(visible(try set.want([.init(a, .one, waiter: 2)], by: .app, now: start)).isEmpty)
        #expect(
            visible(set.unsubAck(request(2), [.success], now: start)) == [
                .waiter(1, .unsubscribed), .unsubscribeSucceeded([a], timeTaken: .zero),
                .subscribe([Subscription(a, .one)], request(3)),
            ])
    }

    @Test func `a caller is resumed at once if a newer call replaces its request, even without a connection`()
        throws
    {
        var set = try granted()
        _ = set.disconnected(now: start)
        #expect(visible(try set.unwant([(a, 1)], by: .app, now: start)).isEmpty)
        #expect(visible(try set.want([.init(a, .two, waiter: 2)], by: .app, now: start)) == [.waiter(1, .superseded)])
        #expect(visible(try set.unwant([(a, 3)], by: .app, now: start)) == [.waiter(2, .superseded)])
    }

    @Test
    func `if the broker refuses an UNSUBSCRIBE, the caller gets an error, and the next connection repeats UNSUBSCRIBE`()
        throws
    {
        var set = try granted()
        _ = try set.unwant([(a, 1)], by: .app, now: start)
        #expect(
            visible(set.unsubAck(request(2), [.notAuthorized], now: start)) == [
                .waiter(1, .failed(.refused(.notAuthorized))),
                .unsubscribeFailed([a], .refused(.notAuthorized), timeTaken: .zero),
            ])
        _ = set.disconnected(now: start)
        #expect(visible(set.connected(sessionPresent: true, now: start)) == [.unsubscribe([a], request(3))])
        #expect(
            visible(set.unsubAck(request(3), [.noSubscriptionExisted], now: start))
                == [.unsubscribeSucceeded([a], timeTaken: .zero)])
    }

    @Test
    func `filters are divided into packets with a limited number of filters and bytes, and few packets are in flight`()
        throws
    {
        var set = SubscriptionSet(
            limits: SubscriptionLimits(filtersPerPacket: 3, bytesPerPacket: 40, packetsInFlight: 2))
        let filters = try (0..<8).map { try TopicFilter("f\($0)") } + [TopicFilter(String(repeating: "x", count: 60))]
        _ = try set.want(filters.map { .init($0, .one) }, by: .app, now: start)
        var packets: [[TopicFilter]] = []
        var actions = set.connected(sessionPresent: false, now: start)
        var inFlight: [(Action.RequestID, Int)] = []
        repeat {
            for case .subscribe(let subscriptions, let id) in actions {
                packets.append(subscriptions.map(\.filter))
                inFlight.append((id, subscriptions.count))
            }
            #expect(inFlight.count <= 2)
            let (id, count) = inFlight.removeFirst()
            actions = set.subAck(id, Array(repeating: .grantedQoS1, count: count), now: start)
        } while !inFlight.isEmpty || actions.contains { if case .subscribe = $0 { true } else { false } }
        #expect(packets.map(\.count) == [3, 3, 2, 1])
        #expect(packets.flatMap(\.self) == filters)
    }

    @Test func `a filter larger than the broker's maximum packet size is not sent, and the caller gets an error`()
        throws
    {
        var set = SubscriptionSet()
        _ = set.connected(sessionPresent: false, support: .init(maximumPacketSize: 20), now: start)
        let long = try TopicFilter(String(repeating: "x", count: 30))
        let actions = visible(try set.want([.init(long, .one, waiter: 1), .init(b, .one)], by: .app, now: start))
        #expect(
            actions == [
                .waiter(1, .failed(.notSent)),
                .subscribeFailed([Subscription(long, .one)], .notSent, timeTaken: .zero),
                .subscribe([Subscription(b, .one)], request(1)),
            ])
        _ = set.disconnected(now: start)
        let all = Action.subscribe([Subscription(long, .one), Subscription(b, .one)], request(2))
        #expect(visible(set.connected(sessionPresent: false, now: start)) == [all])
    }

    @Test func `if CONNACK forbids a filter, its subscription fails, and the next connection tries again`() throws {
        var set = SubscriptionSet()
        let group = try TopicFilter("$share/g/b")
        let intents = [SubscriptionSet.Intent(a, .one, waiter: 1), .init(group, .one, waiter: 2), .init(b, .one)]
        _ = try set.want(intents, by: .app, now: start)
        let noWildcards = SubscriptionAction.Failure.refused(.wildcardSubscriptionsNotSupported)
        let noGroups = SubscriptionAction.Failure.refused(.sharedSubscriptionsNotSupported)
        let narrow = SubscriptionSupport(hasWildcards: false, hasSharedSubscriptions: false)
        #expect(
            visible(set.connected(sessionPresent: false, support: narrow, now: start)) == [
                .waiter(1, .failed(noWildcards)), .waiter(2, .failed(noGroups)),
                .subscribeFailed([Subscription(a, .one)], noWildcards, timeTaken: .zero),
                .subscribeFailed([Subscription(group, .one)], noGroups, timeTaken: .zero),
                .subscribe([Subscription(b, .one)], request(1)),
            ])
        let again = try set.want([.init(a, .one, waiter: 3)], by: .app, now: start)
        #expect(visible(again) == [.waiter(3, .failed(noWildcards))])
        _ = set.disconnected(now: start)
        let asked = visible(set.connected(sessionPresent: false, support: .init(hasWildcards: false), now: start))
        #expect(asked.last == .subscribe([Subscription(group, .one), Subscription(b, .one)], request(2)))
        _ = set.disconnected(now: start)
        let all = [Subscription(a, .one), Subscription(group, .one), Subscription(b, .one)]
        #expect(visible(set.connected(sessionPresent: false, now: start)) == [.subscribe(all, request(3))])
    }

    @Test func `a filter that CONNACK does not allow can still be unsubscribed`() throws {
        var set = try granted()
        _ = set.disconnected(now: start)
        let narrow = SubscriptionSupport(hasWildcards: false)
        #expect(visible(set.connected(sessionPresent: true, support: narrow, now: start)).isEmpty)
        #expect(visible(try set.unwant([(a, nil)], by: .app, now: start)) == [.unsubscribe([a], request(2))])
    }

    @Test func `an UNSUBSCRIBE larger than the broker's maximum packet size fails, and a smaller UNSUBSCRIBE is sent`()
        throws
    {
        var set = try granted()
        _ = set.disconnected(now: start)
        _ = try set.unwant([(a, nil)], by: .app, now: start)
        // The text has three bytes, and the packet has seven more bytes.
        var other = set
        #expect(
            visible(other.connected(sessionPresent: true, support: .init(maximumPacketSize: 9), now: start))
                == [.unsubscribeFailed([a], .notSent, timeTaken: .zero)])
        #expect(
            visible(set.connected(sessionPresent: true, support: .init(maximumPacketSize: 10), now: start))
                == [.unsubscribe([a], request(2))])
    }

    @Test func `if a SUBSCRIBE cannot be sent, the callers get an error, and the SUBSCRIBE is not repeated at once`()
        throws
    {
        var set = SubscriptionSet()
        _ = set.connected(sessionPresent: false, now: start)
        _ = try set.want([.init(a, .one, waiter: 1)], by: .app, now: start)
        #expect(
            visible(set.failed(request(1), .notSent, now: start)) == [
                .waiter(1, .failed(.notSent)), .subscribeFailed([Subscription(a, .one)], .notSent, timeTaken: .zero),
            ])
    }

    @Test func `if the limit of filters or callers is reached, one more throws queueFull and changes nothing`() throws {
        var set = SubscriptionSet(limits: SubscriptionLimits(maximumFilters: 2, maximumWaiters: 1))
        _ = try set.want([.init(a, .one)], by: .app, now: start)
        let c = try TopicFilter("c")
        let error = expectCourierError(.queueFull, "at most 2 are allowed", "Unsubscribe some", "wildcard") {
            try set.want([.init(b, .one), .init(c, .one)], by: .app, now: start)
        }
        #expect(error?.message.contains("raise") == false, "there is no option for it")
        #expect(set.count == 1)
        _ = try set.want([.init(b, .one), .init(a, .two, waiter: 1)], by: .app, now: start)
        expectCourierError(.queueFull, "at most 1 calls may") {
            try set.want([.init(a, .one, waiter: 2)], by: .app, now: start)
        }
        expectCourierError(.queueFull, "at most 1 calls may") { try set.unwant([(a, 2)], by: .app, now: start) }
        #expect(set.wanted(a) == .two)
        set.forget(waiter: 1, of: a)
        _ = try set.want([.init(a, .one, waiter: 3)], by: .app, now: start)
        #expect(set.abandonWaiters() == [.waiter(3, .abandoned)])
    }

    @Test
    func `before SUBSCRIBE, the app's filter is stored as subscribed, and a reader's filter as to be unsubscribed`()
        throws
    {
        var set = SubscriptionSet()
        _ = set.connected(sessionPresent: true, now: start)
        let wanted = try set.want([.init(a, .one)], by: .app, now: start)
        #expect(wanted.first == .store(.want(StoredSubscription(a, .subscribed(.one)))))
        // A reader ends with its process, so a restarted client has to unsubscribe the reader's filter.
        let read = try set.want([.init(b, .one)], by: .reader(1), now: start)
        #expect(read.first == .store(.want(StoredSubscription(b, .unsubscribing))))
        _ = set.subAck(request(1), [.grantedQoS1], now: start)
        _ = set.subAck(request(2), [.grantedQoS1], now: start)
        #expect(
            stored(try set.unwant([(a, nil)], by: .app, now: start)) == [.want(StoredSubscription(a, .unsubscribing))])
        #expect(stored(try set.unwant([(b, nil)], by: .reader(1), now: start)).isEmpty)
        #expect(stored(set.unsubAck(request(3), [], now: start)) == [.forgetSubscription(a)])
        #expect(stored(set.unsubAck(request(4), [], now: start)) == [.forgetSubscription(b)])
    }

    @Test func `a restarted client sends SUBSCRIBE and UNSUBSCRIBE for the stored filters`() throws {
        var set = SubscriptionSet()
        let kept = set.restore([StoredSubscription(a, .subscribed(.two)), StoredSubscription(b, .unsubscribing)])
        #expect(kept.isEmpty)
        #expect(set.hasIntents)
        var withoutSession = set
        #expect(
            visible(set.connected(sessionPresent: true, now: start)) == [
                .subscribe([Subscription(a, .two)], request(1)), .unsubscribe([b], request(2)),
            ])
        let fresh = withoutSession.connected(sessionPresent: false, now: start)
        #expect(visible(fresh) == [.subscribe([Subscription(a, .two)], request(1))])
        #expect(stored(fresh) == [.forgetSubscription(b)])
    }

    @Test func `an unsubscribe before the store is loaded replaces the stored subscription`() throws {
        var set = SubscriptionSet()
        let unsubscribed = [a, b].map { StoreChange.want(StoredSubscription($0, .unsubscribing)) }
        #expect(stored(try set.unwant([(a, nil)], by: .app, now: start)) == [unsubscribed[0]])
        let wanted = StoreChange.want(StoredSubscription(b, .subscribed(.one)))
        #expect(stored(try set.want([.init(b, .one)], by: .app, now: start)) == [wanted])
        #expect(stored(try set.unwant([(b, nil)], by: .app, now: start)) == [unsubscribed[1]])
        let kept = [StoredSubscription(a, .subscribed(.one)), StoredSubscription(b, .unsubscribing)]
        #expect(set.restore(kept) == unsubscribed.map { .store($0) })
        #expect(!set.hasIntents)
        #expect(visible(set.connected(sessionPresent: true, now: start)) == [.unsubscribe([a, b], request(1))])
    }

    @Test func `a subscribe before the store is loaded replaces the stored unsubscribe`() throws {
        var set = SubscriptionSet()
        _ = try set.want([.init(a, .two)], by: .app, now: start)
        let restored = set.restore([StoredSubscription(a, .unsubscribing)])
        #expect(stored(restored) == [.want(StoredSubscription(a, .subscribed(.two)))])
        #expect(set.wanted(a) == .two)
    }
}
