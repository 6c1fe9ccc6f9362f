import CourierCore
import MQTTCodec
import Testing

@testable import CourierMQTT

/// The readers for which the client expects retained messages.
@Suite struct SubscriptionRetainedTests {
    private let now = ContinuousClock.now
    private let topic: TopicName
    private let own: TopicFilter
    private let wide: TopicFilter

    init() throws {
        topic = try TopicName("t")
        own = try TopicFilter("t")
        wide = try TopicFilter("#")
    }

    /// Sends and grants each SUBSCRIBE of the set.
    private func grant(
        _ actions: [SubscriptionAction], _ set: inout SubscriptionSet, _ options: SubscriptionOptions,
        in version: ProtocolVersion
    ) {
        var actions = actions
        while !actions.isEmpty {
            let present = actions
            actions = []
            for case .subscribe(let asked, let id) in present {
                set.noteRetained(id, options, in: version)
                actions += set.subAck(id, asked.map { ReasonCode(rawValue: $0.qos.wireLevel) }, now: now)
            }
        }
    }

    /// A set whose broker has granted "t" with QoS 1.
    private func granted(
        _ options: SubscriptionOptions = SubscriptionOptions(), in version: ProtocolVersion = .v5,
        hasIdentifiers: Bool = false
    ) throws -> SubscriptionSet {
        var set = SubscriptionSet()
        _ = set.connected(sessionPresent: false, support: .init(hasIdentifiers: hasIdentifiers), now: now)
        grant(try set.want([.init(own, .one)], by: .app, now: now), &set, options, in: version)
        return set
    }

    @Test func `the client expects retained messages for a new subscription, but not for an existing subscription`()
        throws
    {
        var set = try granted()
        let options = SubscriptionOptions()
        #expect(set.bringsRetained(on: topic, to: own, after: 0, options, in: .v5))
        #expect(!set.bringsRetained(on: try TopicName("u"), to: nil, after: 0, options, in: .v5))
        let last = set.lastRequest
        grant(try set.want([.init(own, .one)], by: .reader(1), now: now), &set, options, in: .v5)
        #expect(!set.bringsRetained(on: topic, to: own, after: last, options, in: .v5))
    }

    /// [MQTT-3.3.1-9] to [MQTT-3.3.1-11], and [MQTT-3.8.4-3] of MQTT 3.1.1.
    @Test(arguments: [
        (SubscriptionOptions.RetainedMessages.always, ProtocolVersion.v5, true),
        (.ofNewSubscriptions, .v5, false), (.never, .v5, false), (.never, .v311, true),
    ])
    func `the retainedMessages option decides whether retained messages are expected after a resubscribe`(
        _ wanted: SubscriptionOptions.RetainedMessages, _ version: ProtocolVersion, _ isBrought: Bool
    ) throws {
        let options = SubscriptionOptions(retainedMessages: wanted)
        var set = try granted(options, in: version)
        let last = set.lastRequest
        grant(try set.want([.init(own, .two)], by: .reader(1), now: now), &set, options, in: version)
        #expect(set.lastRequest > last)
        #expect(set.bringsRetained(on: topic, to: own, after: last, options, in: version) == isBrought)
    }

    /// MQTT 5.0 §4.8.2.
    @Test func `the client expects no retained messages for a shared subscription`() throws {
        var set = try granted()
        let (last, options) = (set.lastRequest, SubscriptionOptions())
        let shared = try TopicFilter("$share/g/t")
        grant(try set.want([.init(shared, .one)], by: .reader(1), now: now), &set, options, in: .v5)
        #expect(!set.bringsRetained(on: topic, to: shared, after: last, options, in: .v5))
    }

    @Test func `the client expects retained messages for a filter that waits for the next connection`() throws {
        var set = try granted()
        let (last, options) = (set.lastRequest, SubscriptionOptions())
        _ = set.disconnected(now: now)
        #expect(!set.bringsRetained(on: topic, to: nil, after: last, options, in: .v5))
        _ = try set.want([.init(wide, .one)], by: .reader(1), now: now)
        #expect(set.bringsRetained(on: topic, to: wide, after: last, options, in: .v5))
        _ = try set.unwant([(wide, nil)], by: .reader(1), now: now)
        #expect(!set.bringsRetained(on: topic, to: wide, after: last, options, in: .v5))
    }

    /// The filter is subscribed again while its UNSUBSCRIBE is unanswered.
    @Test func `the client expects retained messages for a filter that is subscribed again after UNSUBACK`() throws {
        var set = try granted()
        let (last, options) = (set.lastRequest, SubscriptionOptions())
        let unsubscribe = try set.unwant([(own, nil)], by: .app, now: now)
        let begun = set.lastRequest
        #expect(begun > last)
        #expect(!set.bringsRetained(on: topic, to: own, after: begun, options, in: .v5))
        _ = try set.want([.init(own, .one)], by: .reader(1), now: now)
        #expect(set.lastRequest == begun)
        #expect(set.bringsRetained(on: topic, to: own, after: begun, options, in: .v5))
        for case .unsubscribe(_, let id) in unsubscribe {
            grant(set.unsubAck(id, [.success], now: now), &set, options, in: .v5)
        }
        #expect(set.lastRequest > begun)
        #expect(set.bringsRetained(on: topic, to: own, after: begun, options, in: .v5))
    }

    /// A higher QoS is requested while a SUBSCRIBE is unanswered. The options of the next SUBSCRIBE decide about
    /// retained messages.
    @Test(arguments: [SubscriptionOptions.RetainedMessages.always, .ofNewSubscriptions])
    func `the retainedMessages option decides whether a second SUBSCRIBE expects retained messages`(
        _ wanted: SubscriptionOptions.RetainedMessages
    ) throws {
        let options = SubscriptionOptions(retainedMessages: wanted)
        var set = SubscriptionSet()
        _ = set.connected(sessionPresent: false, now: now)
        let subscribe = try set.want([.init(own, .zero)], by: .app, now: now)
        for case .subscribe(_, let id) in subscribe { set.noteRetained(id, options, in: .v5) }
        let begun = set.lastRequest
        #expect(!set.bringsRetained(on: topic, to: own, after: begun, options, in: .v5))
        _ = try set.want([.init(own, .one)], by: .reader(1), now: now)
        #expect(set.lastRequest == begun)
        let isBrought = wanted == .always
        #expect(set.bringsRetained(on: topic, to: own, after: begun, options, in: .v5) == isBrought)
        grant(subscribe, &set, options, in: .v5)
        #expect(set.lastRequest > begun)
        #expect(set.bringsRetained(on: topic, to: own, after: begun, options, in: .v5) == isBrought)
    }

    @Test func `the client expects no retained messages for a subscription that the broker refuses`() throws {
        var set = try granted()
        let (last, options) = (set.lastRequest, SubscriptionOptions())
        for case .subscribe(_, let id) in try set.want([.init(wide, .one)], by: .app, now: now) {
            set.noteRetained(id, options, in: .v5)
            #expect(set.bringsRetained(on: topic, to: nil, after: last, options, in: .v5))
            _ = set.subAck(id, [.notAuthorized], now: now)
        }
        #expect(!set.bringsRetained(on: topic, to: nil, after: last, options, in: .v5))
    }

    @Test func `for a reader with its own identifier, the client expects no retained messages of other subscriptions`()
        throws
    {
        var set = try granted(hasIdentifiers: true)
        let options = SubscriptionOptions()
        grant(try set.want([.init(try TopicFilter("+"), .one)], by: .reader(1), now: now), &set, options, in: .v5)
        let last = set.lastRequest
        grant(try set.want([.init(wide, .one)], by: .reader(2), now: now), &set, options, in: .v5)
        #expect(set.lastRequest > last)
        #expect(!set.bringsRetained(on: topic, to: own, after: last, options, in: .v5))
        #expect(set.bringsRetained(on: topic, to: nil, after: last, options, in: .v5))
    }
}
