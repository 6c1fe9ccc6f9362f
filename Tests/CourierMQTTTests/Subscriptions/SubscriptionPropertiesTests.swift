import CourierCore
import MQTTCodec
import Testing

@testable import CourierMQTT

/// Subscription identifiers and user properties that the app chose.
@Suite struct SubscriptionPropertiesTests {
    private typealias Action = SubscriptionAction

    private let now = ContinuousClock.now
    private let a: TopicFilter
    private let b: TopicFilter
    private let c: TopicFilter
    private let all: TopicFilter
    private let trace = [UserProperty("trace", "1"), UserProperty("trace", "2")]

    init() throws {
        a = try TopicFilter("t/a")
        b = try TopicFilter("t/b")
        c = try TopicFilter("t/c")
        all = try TopicFilter("t/#")
    }

    /// One SUBSCRIBE: its filters, its identifier and its user properties.
    private struct Sent: Equatable {
        let filters: [TopicFilter]
        let identifier: UInt32?
        let userProperties: [UserProperty]

        init(_ filters: [TopicFilter], _ identifier: UInt32? = nil, _ userProperties: [UserProperty] = []) {
            self.filters = filters
            self.identifier = identifier
            self.userProperties = userProperties
        }
    }

    private func intent(
        _ filter: TopicFilter, _ identifier: UInt32? = nil, _ userProperties: [UserProperty] = []
    ) -> SubscriptionSet.Intent {
        let properties = SubscriptionProperties(identifier: identifier, userProperties: userProperties)
        return SubscriptionSet.Intent(filter, .one, properties: properties.isEmpty ? nil : properties)
    }

    private func connect(
        _ set: inout SubscriptionSet, isSessionPresent: Bool = false, support: SubscriptionSupport? = nil
    ) -> [Action] {
        let support = support ?? SubscriptionSupport(hasIdentifiers: true)
        return set.connected(sessionPresent: isSessionPresent, support: support, now: now)
    }

    /// Grants every SUBSCRIBE, including later SUBSCRIBE packets that follow from it. Returns all of them.
    private func grant(_ actions: [Action], _ set: inout SubscriptionSet) -> [Sent] {
        var sent: [Sent] = []
        var actions = actions
        while !actions.isEmpty {
            let present = actions
            actions = []
            for case .subscribe(let asked, let id) in present {
                sent.append(Sent(asked.map(\.filter), asked[0].identifier, set.userProperties(of: id)))
                actions += set.subAck(id, asked.map { _ in .grantedQoS1 }, now: now)
            }
        }
        return sent
    }

    @Test func `only filters with equal subscription properties share a SUBSCRIBE packet`() throws {
        var set = SubscriptionSet()
        _ = try set.want([intent(a, nil, trace), intent(b, nil, trace), intent(c)], by: .app, now: now)
        #expect(grant(connect(&set), &set) == [Sent([a, b], nil, trace), Sent([c])])

        var identified = SubscriptionSet()
        _ = try identified.want([intent(a, 7), intent(b, 7), intent(c, 8)], by: .app, now: now)
        #expect(grant(connect(&identified), &identified) == [Sent([a, b], 7), Sent([c], 8)])
    }

    @Test func `default subscription properties apply only to filters without own properties`() throws {
        var set = SubscriptionSet(defaults: SubscriptionProperties(identifier: 5, userProperties: trace))
        let own = [UserProperty("own", "")]
        _ = try set.want([intent(a), intent(b), intent(c, nil, own)], by: .app, now: now)
        #expect(grant(connect(&set), &set) == [Sent([a, b], 5, trace), Sent([c], nil, own)])
    }

    @Test func `subscription properties are sent with each SUBSCRIBE of their filter`() throws {
        var set = SubscriptionSet()
        _ = try set.want([intent(a, 7, trace)], by: .app, now: now)
        #expect(grant(connect(&set), &set) == [Sent([a], 7, trace)])
        #expect(grant(connect(&set, isSessionPresent: true), &set).isEmpty, "the session has the subscription")
        #expect(grant(connect(&set), &set) == [Sent([a], 7, trace)])
    }

    @Test func `changed properties of a filter are sent at once, equal properties are not sent again`() throws {
        var set = SubscriptionSet()
        _ = connect(&set)
        #expect(try grant(set.want([intent(a)], by: .app, now: now), &set) == [Sent([a])])
        #expect(try grant(set.want([intent(a, nil, trace)], by: .app, now: now), &set) == [Sent([a], nil, trace)])
        #expect(try grant(set.want([intent(a, nil, trace)], by: .app, now: now), &set).isEmpty)
        #expect(try grant(set.want([intent(a)], by: .reader(1), now: now), &set).isEmpty, "they stay")
        #expect(try grant(set.want([intent(a, 9, trace)], by: .app, now: now), &set) == [Sent([a], 9, trace)])
    }

    @Test func `a filter that is subscribed again after an unsubscribe loses its old properties`() throws {
        var set = SubscriptionSet()
        _ = connect(&set)
        _ = grant(try set.want([intent(a, 7, trace)], by: .app, now: now), &set)
        // The filter is subscribed again before the broker has answered UNSUBSCRIBE.
        let end = try set.unwant([(a, nil)], by: .app, now: now)
        #expect(try grant(set.want([intent(a)], by: .app, now: now), &set).isEmpty)
        var actions: [Action] = []
        for case .unsubscribe(_, let id) in end { actions += set.unsubAck(id, [.success], now: now) }
        #expect(grant(actions, &set) == [Sent([a])])
    }

    @Test func `if the app chooses an identifier that another filter has, the other filter gets a new identifier`()
        throws
    {
        var set = SubscriptionSet()
        _ = connect(&set)
        _ = grant(try set.want([intent(all), intent(a), intent(b)], by: .app, now: now), &set)
        let own = (try #require(set.identifiers?[all]), try #require(set.identifiers?[a]))
        #expect(own.0 != own.1 && set.identifiers?[b] == own.1)
        // The app chooses both identifiers for other filters.
        for identifier in [own.0, own.1] {
            _ = grant(try set.want([intent(c, identifier)], by: .app, now: now), &set)
            #expect(set.identifiers?[c] == identifier)
            let others = [all, a, b].compactMap { set.identifiers?[$0] }
            #expect(others.count == 3 && !others.contains(identifier))
            #expect(Set(others).count == 2, "filters without wildcards share one")
            #expect([all, a, b].allSatisfy { set.granted($0) == .one })
        }
        #expect(set.chosenIdentifiers(of: [own.0, own.1, 4]) == [own.1], "the app sees what it chose last")
    }

    @Test
    func `a reader receives the copy with the reader's identifier, or the first copy if all identifiers are equal`()
        throws
    {
        let topic = try TopicFilter("t/+")
        for (first, second, claims) in [
            (1, 2, [SubscriptionSet.Claim.taken, .left]), (3, 3, [.first, .first]),
        ] as [(UInt32, UInt32, [SubscriptionSet.Claim])] {
            var set = SubscriptionSet()
            _ = connect(&set)
            _ = grant(try set.want([intent(all, first), intent(topic, second)], by: .reader(1), now: now), &set)
            #expect([set.claim(of: all, on: [first]), set.claim(of: topic, on: [first])] == claims)
        }
    }

    @Test func `only filters with an identifier fail if the broker does not support identifiers`() throws {
        var set = SubscriptionSet()
        _ = try set.want([intent(a, 7), intent(b, nil, trace)], by: .app, now: now)
        let actions = connect(&set, support: SubscriptionSupport(hasIdentifiers: false))
        let refused = actions.contains { action in
            if case .subscribeFailed(let asked, .refused(.subscriptionIdentifiersNotSupported), _) = action {
                asked.map(\.filter) == [a]
            } else {
                false
            }
        }
        #expect(refused)
        #expect(grant(actions, &set) == [Sent([b], nil, trace)])

        var older = SubscriptionSet()
        _ = try older.want([intent(a, 7)], by: .app, now: now)
        #expect(grant(connect(&older, support: SubscriptionSupport(hasProperties: false)), &older) == [Sent([a])])
    }

    @Test func `only filters with equal user properties share an UNSUBSCRIBE packet`() throws {
        var set = SubscriptionSet()
        _ = connect(&set)
        _ = grant(try set.want([intent(a), intent(b), intent(c)], by: .app, now: now), &set)
        func ended(_ actions: [Action]) -> [Sent] {
            actions.compactMap { action in
                if case .unsubscribe(let filters, let id) = action {
                    Sent(filters, nil, set.userProperties(of: id))
                } else {
                    nil
                }
            }
        }
        let actions = try set.unwant(
            [.init(a, userProperties: trace), .init(b, userProperties: trace), .init(c)], by: .app, now: now)
        #expect(ended(actions) == [Sent([a, b], nil, trace), Sent([c])])
        for case .unsubscribe(let filters, let id) in actions {
            _ = set.unsubAck(id, filters.map { _ in .success }, now: now)
        }
        _ = grant(try set.want([intent(a)], by: .app, now: now), &set)
        #expect(try ended(set.unwant([(a, nil)], by: .app, now: now)) == [Sent([a])])
    }

    @Test(arguments: [0, 268_435_456] as [UInt32])
    func `problem() names a subscription identifier that is out of range`(_ identifier: UInt32) {
        #expect(SubscriptionProperties(identifier: identifier).problem(.portable)?.contains("\(identifier)") == true)
        #expect(SubscriptionProperties(identifier: 268_435_455).problem(.portable) == nil)
    }

    @Test func `problem() reports user properties that are too many, too long or invalid`() {
        let property = UserProperty("n", "v")
        #expect(Array(repeating: property, count: 256).problem(.portable) == nil)
        #expect(Array(repeating: property, count: 257).problem(.portable)?.contains("257 user properties") == true)
        let long = String(repeating: "x", count: 65_536)
        #expect(
            [property, UserProperty("n", long)].problem(.portable)?.contains("user property 2 whose value") == true)
        #expect([UserProperty(long, "v")].problem(.portable)?.contains("user property 1 whose name") == true)
        #expect([UserProperty("n", "a\u{0}b")].problem(.portable)?.contains("U+0000") == true)
    }
}
