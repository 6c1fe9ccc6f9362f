import CourierCore
import Testing

@testable import CourierMQTT

/// Subscription identifiers, which distinguish the copies of a message for several overlapping subscriptions.
@Suite struct SubscriptionIdentifiersTests {
    private typealias Action = SubscriptionAction
    private typealias Subscription = SubscriptionAction.Subscription

    private let now = ContinuousClock.now
    private let all: TopicFilter
    private let some: TopicFilter
    private let apart: TopicFilter
    private let topic: TopicName

    init() throws {
        all = try TopicFilter("chat/#")
        some = try TopicFilter("chat/+/notes")
        apart = try TopicFilter("news/+")
        topic = try TopicName("chat/7/notes")
    }

    private func subscriptions(_ actions: [Action]) -> [[Subscription]] {
        actions.compactMap { if case .subscribe(let subscriptions, _) = $0 { subscriptions } else { nil } }
    }

    private func set(
        _ intents: [(TopicFilter, QoS)], hasIdentifiers: Bool = true
    ) throws -> (SubscriptionSet, [Action]) {
        var set = SubscriptionSet()
        var actions = set.connected(sessionPresent: false, support: .init(hasIdentifiers: hasIdentifiers), now: now)
        actions += try set.want(intents.map { SubscriptionSet.Intent($0.0, $0.1) }, by: .app, now: now)
        return (set, actions)
    }

    /// A set whose broker has granted everything, and the identifiers of its filters.
    private func granted(_ intents: [(TopicFilter, QoS)]) throws -> (SubscriptionSet, [TopicFilter: UInt32]) {
        var (set, actions) = try set(intents)
        var identifiers: [TopicFilter: UInt32] = [:]
        while !actions.isEmpty {
            let present = actions
            actions = []
            for case .subscribe(let subscriptions, let id) in present {
                for subscription in subscriptions { identifiers[subscription.filter] = subscription.identifier }
                actions += set.subAck(id, subscriptions.map { ReasonCode(rawValue: $0.qos.wireLevel) }, now: now)
            }
        }
        return (set, identifiers)
    }

    @Test func `filters without common topics are sent in one packet without subscription identifiers`() throws {
        let (_, actions) = try set([(some, .one), (apart, .one), (try TopicFilter("chat"), .two)])
        #expect(subscriptions(actions).map { $0.map(\.filter.string) } == [["chat/+/notes", "news/+", "chat"]])
        #expect(subscriptions(actions)[0].allSatisfy { $0.identifier == nil })
    }

    @Test func `overlapping wildcard filters are sent in separate packets with different subscription identifiers`()
        throws
    {
        let (_, actions) = try set([(all, .one), (apart, .one), (some, .two)])
        let packets = subscriptions(actions)
        #expect(packets.map { $0.map(\.filter.string) } == [["chat/#"], ["news/+"], ["chat/+/notes"]])
        let identifiers = packets.map { $0[0].identifier }
        #expect(identifiers[1] == nil)
        #expect(identifiers[0] != nil && identifiers[2] != nil && identifiers[0] != identifiers[2])
    }

    @Test func `a granted filter is sent again with an identifier before a new overlapping filter is sent`() throws {
        var (set, _) = try granted([(all, .one)])
        let actions = try set.want([SubscriptionSet.Intent(some, .one)], by: .reader(1), now: now)
        let packets = subscriptions(actions).flatMap { $0 }
        #expect(packets.map(\.filter) == [all, some])
        #expect(packets.map(\.isRenewal) == [true, false])
        #expect(packets.allSatisfy { $0.identifier != nil })
    }

    @Test func `filters are sent again in the order in which they were subscribed`() throws {
        let topics = try (0..<3).map { try TopicFilter("chat/\($0)") }
        var (set, _) = try granted(topics.map { ($0, .one) })
        let actions = try set.want([SubscriptionSet.Intent(all, .one)], by: .app, now: now)
        #expect(subscriptions(actions).map { $0.map(\.filter) } == [topics, [all]])
    }

    @Test func `no subscription identifiers are sent to a broker that does not support them`() throws {
        let (_, actions) = try set([(all, .one), (some, .one)], hasIdentifiers: false)
        #expect(subscriptions(actions).map(\.count) == [2])
        var (set, _) = try granted([(all, .one), (some, .one)])
        let next = set.connected(sessionPresent: false, support: .init(hasIdentifiers: false), now: now)
        #expect(subscriptions(next).map(\.count) == [2])
        #expect(subscriptions(next).flatMap { $0 }.allSatisfy { $0.identifier == nil })
        #expect(set.claim(of: all, on: [2]) == .first)
    }

    @Test func `300 filters without wildcards share one subscription identifier`() throws {
        let topics = try (0..<300).map { try TopicFilter("chat/\($0)") }
        let (_, actions) = try set([(all, .one)] + topics.map { ($0, .one) })
        let packets = subscriptions(actions)
        #expect(packets.map(\.count) == [1, 200, 100])
        #expect(Set(packets.dropFirst().flatMap { $0 }.map(\.identifier)).count == 1)
        #expect(packets[0][0].identifier != packets[1][0].identifier)
    }

    @Test func `a filter and the same filter in share groups have different subscription identifiers`() throws {
        let filters = try ["$share/g/t", "t", "$share/h/t"].map { try TopicFilter($0) }
        let (_, identifiers) = try granted(filters.map { ($0, .one) })
        #expect(Set(identifiers.values).count == 3)
    }

    @Test func `a reader of all topics always receives the message copy for a shared subscription`() throws {
        let group = try TopicFilter("$share/g/chat/+")
        let (set, identifiers) = try granted([(all, .one), (group, .one)])
        let (ofAll, ofGroup) = (try #require(identifiers[all]), try #require(identifiers[group]))
        #expect(set.claim(of: nil, on: [ofGroup]) == .taken)
        #expect(set.claim(of: nil, on: [ofAll]) == .first)
        #expect(set.claim(of: all, on: [ofGroup]) == .left)
    }

    @Test func `a filter has the same subscription identifier in each process`() throws {
        let (_, first) = try granted([(all, .one), (some, .one)])
        let (_, second) = try granted([(some, .one), (apart, .zero), (all, .one)])
        #expect(first[all] == second[all] && first[some] == second[some])
        #expect(first.count == 2)
    }

    @Test func `a new filter waits for the SUBACK of an overlapping filter`() throws {
        var set = SubscriptionSet()
        var actions = set.connected(sessionPresent: false, support: .init(hasIdentifiers: true), now: now)
        actions += try set.want([SubscriptionSet.Intent(all, .one)], by: .app, now: now)
        #expect(subscriptions(actions).flatMap { $0 }.map(\.identifier) == [nil])
        #expect(subscriptions(try set.want([SubscriptionSet.Intent(some, .one)], by: .app, now: now)).isEmpty)
        let next = set.subAck(SubscriptionAction.RequestID(rawValue: 1), [.grantedQoS1], now: now)
        #expect(subscriptions(next).flatMap { $0 }.map(\.filter) == [all, some])
        #expect(subscriptions(next).flatMap { $0 }.map(\.isRenewal) == [true, false])
    }

    @Test func `a reader gets the copy that carries its own subscription identifier`() throws {
        let (set, identifiers) = try granted([(all, .one), (some, .zero)])
        let (ofAll, ofSome) = (try #require(identifiers[all]), try #require(identifiers[some]))
        #expect(set.claim(of: all, on: [ofAll]) == .taken)
        #expect(set.claim(of: some, on: [ofAll]) == .left)
        #expect(set.claim(of: some, on: [ofSome]) == .taken)
        // A broker that sends one copy for both subscriptions sends both identifiers [MQTT-3.3.4-4].
        for filter in [all, some] { #expect(set.claim(of: filter, on: [ofSome, ofAll]) == .taken) }
        // Other readers cannot know which copies arrive.
        for reader in [nil, try TopicFilter("chat/7/+")] { #expect(set.claim(of: reader, on: [ofSome]) == .first) }
    }

    @Test func `a reader whose filter is not granted receives the first copy of a message`() throws {
        var (set, actions) = try set([(all, .one), (some, .one)])
        let identifiers = subscriptions(actions).flatMap { $0 }.compactMap(\.identifier)
        #expect(set.claim(of: all, on: [identifiers[1]]) == .first)
        // Retained messages may come before SUBACK [MQTT-3.8.4].
        #expect(set.claim(of: all, on: [identifiers[0]]) == .taken)
        for case .subscribe(let subscriptions, let id) in actions {
            _ = set.subAck(id, subscriptions.map { $0.filter == all ? .notAuthorized : .grantedQoS1 }, now: now)
        }
        #expect(set.claim(of: all, on: [identifiers[1]]) == .first)
        #expect(set.claim(of: some, on: [identifiers[0]]) == .left)
    }

    @Test func `the client recognizes copies of a message for an unsubscribed filter until the session ends`() throws {
        let (start, identifiers) = try granted([(all, .one), (some, .one)])
        var set = start
        let (ofAll, ofSome) = (try #require(identifiers[all]), try #require(identifiers[some]))
        for case .unsubscribe(_, let id) in try set.unwant([(some, nil)], by: .app, now: now) {
            _ = set.unsubAck(id, [.success], now: now)
        }
        #expect(set.claim(of: all, on: [ofSome]) == .left)
        #expect(set.claim(of: all, on: [ofSome + 1]) == .first, "of an earlier process, perhaps")
        for case .subscribe(let subscriptions, let id) in set.connected(
            sessionPresent: false, support: .init(hasIdentifiers: true), now: now)
        {
            #expect(subscriptions.map(\.identifier) == [ofAll])
            _ = set.subAck(id, [.grantedQoS1], now: now)
        }
        #expect(set.claim(of: all, on: [ofSome]) == .first)
    }

    @Test
    func `if too many wildcard filters are already compared, a new wildcard filter gets no subscription identifier`()
        throws
    {
        var identifiers = SubscriptionIdentifiers()
        for number in 0..<SubscriptionIdentifiers.comparedLimit {
            #expect(identifiers.add(try TopicFilter("a/\(number)/+"), beside: []).isEmpty)
        }
        #expect(identifiers.add(all, beside: [some]).isEmpty)
        #expect(identifiers.add(try TopicFilter("a/1/b"), beside: []).count == 2)
        identifiers.remove(try TopicFilter("a/0/+"))
        #expect(identifiers.add(all, beside: [some]) == [some, all])
    }

    // MARK: Copies

    @Test func `a message with equal topic and payload but another subscription identifier counts as a copy`() {
        var recent = RecentCopies()
        func isTwin(_ topic: String, _ text: String, _ copy: [UInt32]) -> Bool {
            recent.isTwin(topic, Array(text.utf8).span.bytes, for: copy)
        }
        #expect(!isTwin("t", "x", [1]))
        #expect(isTwin("t", "x", [2]))
        #expect(isTwin("t", "x", [3]))
        #expect(!isTwin("t", "x", [1]), "the same message once more")
        #expect(isTwin("t", "x", [2]))
        #expect(!isTwin("u", "x", [2]))
        #expect(!isTwin("t", "y", [2]))
        #expect(!isTwin("t", "z", [1, 2]))
        #expect(!isTwin("t", "z", [1, 2]))
        let most = UInt32(RecentCopies.subscriptionLimit)
        #expect(!isTwin("t", "many", [0]))
        #expect(isTwin("t", "many", Array(1..<most)))
        #expect(!isTwin("t", "many", [most]))
    }

    @Test func `RecentCopies remembers only the latest messages`() {
        var recent = RecentCopies()
        func isTwin(_ number: Int, _ copy: UInt32) -> Bool {
            recent.isTwin("\(number)", [UInt8]().span.bytes, for: [copy])
        }
        let areTwins = (0...RecentCopies.limit).map { isTwin($0, 1) }
        #expect(!areTwins.contains(true))
        let (first, third) = (isTwin(0, 2), isTwin(2, 2))
        #expect(!first && third)
    }
}
