import CourierCore
import Testing

@testable import CourierMQTT

/// Identifiers by which the copies of a message for each of several subscriptions are told apart.
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
        _ wishes: [(TopicFilter, QoS)], hasIdentifiers: Bool = true
    ) throws -> (SubscriptionSet, [Action]) {
        var set = SubscriptionSet()
        var actions = set.connected(sessionPresent: false, hasIdentifiers: hasIdentifiers, now: now)
        actions += try set.want(wishes.map { SubscriptionSet.Wish($0.0, $0.1) }, by: .app, now: now)
        return (set, actions)
    }

    /// A set whose broker has granted everything, and the identifiers of its filters.
    private func granted(_ wishes: [(TopicFilter, QoS)]) throws -> (SubscriptionSet, [TopicFilter: UInt32]) {
        var (set, actions) = try set(wishes)
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

    @Test func `filters without a topic in common travel together and have none`() throws {
        let (_, actions) = try set([(some, .one), (apart, .one), (try TopicFilter("chat"), .two)])
        #expect(subscriptions(actions).map { $0.map(\.filter.string) } == [["chat/+/notes", "news/+", "chat"]])
        #expect(subscriptions(actions)[0].allSatisfy { $0.identifier == nil })
    }

    @Test func `filters with a topic in common have one each, and a packet each`() throws {
        let (_, actions) = try set([(all, .one), (apart, .one), (some, .two)])
        let packets = subscriptions(actions)
        #expect(packets.map { $0.map(\.filter.string) } == [["chat/#"], ["news/+"], ["chat/+/notes"]])
        let identifiers = packets.map { $0[0].identifier }
        #expect(identifiers[1] == nil)
        #expect(identifiers[0] != nil && identifiers[2] != nil && identifiers[0] != identifiers[2])
    }

    @Test func `what the broker has already is renewed before the new one is asked for`() throws {
        var (set, _) = try granted([(all, .one)])
        let actions = try set.want([SubscriptionSet.Wish(some, .one)], by: .reader(1), now: now)
        let packets = subscriptions(actions).flatMap { $0 }
        #expect(packets.map(\.filter) == [all, some])
        #expect(packets.map(\.isRenewal) == [true, false])
        #expect(packets.allSatisfy { $0.identifier != nil })
    }

    @Test func `a broker that knows of none is asked without, also for what had one before`() throws {
        let (_, actions) = try set([(all, .one), (some, .one)], hasIdentifiers: false)
        #expect(subscriptions(actions).map(\.count) == [2])
        var (set, _) = try granted([(all, .one), (some, .one)])
        let next = set.connected(sessionPresent: false, hasIdentifiers: false, now: now)
        #expect(subscriptions(next).map(\.count) == [2])
        #expect(subscriptions(next).flatMap { $0 }.allSatisfy { $0.identifier == nil })
        #expect(set.takes(all, [1], of: topic, isRetained: false))
    }

    @Test func `a filter has the same identifier in each process`() throws {
        let (_, first) = try granted([(all, .one), (some, .one)])
        let (_, second) = try granted([(some, .one), (apart, .zero), (all, .one)])
        #expect(first[all] == second[all] && first[some] == second[some])
        #expect(first.count == 2)
    }

    @Test func `each reader takes the copy for its own filter`() throws {
        let (set, identifiers) = try granted([(all, .one), (some, .zero)])
        let (ofAll, ofSome) = (try #require(identifiers[all]), try #require(identifiers[some]))
        #expect(set.takes(all, [ofAll], of: topic, isRetained: false))
        #expect(!set.takes(some, [ofAll], of: topic, isRetained: false))
        #expect(set.takes(some, [ofSome], of: topic, isRetained: false))
        // A broker that sends one for both names both [MQTT-3.3.4-4].
        for filter in [all, some] { #expect(set.takes(filter, [ofSome, ofAll], of: topic, isRetained: false)) }
    }

    @Test func `who has no subscription of its own takes one copy, of the highest quality of service`() throws {
        let (set, identifiers) = try granted([(all, .zero), (some, .one)])
        let (ofAll, ofSome) = (try #require(identifiers[all]), try #require(identifiers[some]))
        for reader in [nil, try TopicFilter("chat/7/+")] {
            #expect(set.takes(reader, [ofSome], of: topic, isRetained: false))
            #expect(!set.takes(reader, [ofAll], of: topic, isRetained: false))
            #expect(set.takes(reader, [ofAll], of: try TopicName("chat/7"), isRetained: false))
            // It comes for the new subscription only.
            #expect(set.takes(reader, [ofAll], of: topic, isRetained: true))
        }
    }

    @Test func `a copy for what nobody knows is everybody's`() throws {
        let (set, identifiers) = try granted([(all, .one), (some, .one)])
        let known = Set(identifiers.values)
        let unknown = try #require((1...3).first { !known.contains($0) })
        for reader in [nil, all, some] { #expect(set.takes(reader, [unknown], of: topic, isRetained: false)) }
    }

    @Test func `a filter that is gone has none any more`() throws {
        var (set, identifiers) = try granted([(all, .one), (some, .one)])
        let ofSome = try #require(identifiers[some])
        let actions = try set.unwant([(some, nil)], by: .app, now: now)
        #expect(set.takes(some, [ofSome], of: topic, isRetained: false))
        for case .unsubscribe(_, let id) in actions { _ = set.unsubAck(id, [.success], now: now) }
        #expect(set.takes(all, [ofSome], of: topic, isRetained: false))
        identifiers[some] = nil
        #expect(set.takes(all, Array(identifiers.values), of: topic, isRetained: false))
    }

    @Test func `so many filters with wildcards are compared, and no more`() throws {
        var identifiers = SubscriptionIdentifiers()
        for number in 0..<SubscriptionIdentifiers.wildcardLimit {
            #expect(identifiers.add(try TopicFilter("a/\(number)/+"), beside: []).isEmpty)
        }
        #expect(identifiers.add(all, beside: [some]).isEmpty)
        #expect(identifiers.add(try TopicFilter("a/1/b"), beside: []).count == 2)
        identifiers.remove(try TopicFilter("a/0/+"))
        #expect(identifiers.add(all, beside: [some]) == [some, all])
    }
}
