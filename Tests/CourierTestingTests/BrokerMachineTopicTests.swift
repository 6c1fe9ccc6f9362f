import MQTTCodec
import Testing

@testable import CourierTesting

@Suite struct `Broker, topics and filters` {
    @Test(arguments: [
        ("a/b", "a/b", true), ("a/b", "a/+", true), ("a/b", "#", true), ("a", "a/#", true), ("a/b/c", "a/#", true),
        ("a/b/c", "a/+", false), ("a/", "a/+", true), ("a", "a/+", false), ("/a", "+/+", true), ("/a", "/+", true),
        ("/a", "+", false), ("$a/b", "#", false), ("$a/b", "+/b", false), ("$a/b", "$a/#", true), ("$a", "$a/#", true),
        ("a/$b", "a/+", true), ("A", "a", false), ("a//b", "a/+/b", true), ("ab", "a", false), ("/", "#", true),
        ("$share/a/b", "$share/a/b", true), ("+", "\u{2B}", true),
    ])
    func `a filter and the subscription tree match topics as the specification requires`(
        topic: String, filter: String, isMatch: Bool
    ) {
        let levels = ExactText.levels(of: topic.utf8)
        let filter = BrokerFilter(filter, knowsSharing: false)
        #expect(filter.matches(levels) == isMatch)
        var tree = SubscriptionTree()
        let session = SessionID(number: 1)
        let isNew = tree.insert(filter, of: session, .init(qos: .atMostOnce))
        #expect(isNew)
        #expect(!tree.matches(levels).direct.isEmpty == isMatch)
        let isKnown = tree.remove(filter, of: session)
        #expect(isKnown)
        #expect(tree.nodeCount == 0)
    }

    @Test func `BrokerFilter splits a filter into share group and levels, and returns the original text`() {
        let shared = BrokerFilter("$share/g/a/+/#", knowsSharing: true)
        #expect(shared.group == ExactText("g"))
        #expect(shared.levels == ["a", "+", "#"].map { ExactText($0) })
        #expect(shared.text == "$share/g/a/+/#")
        #expect(BrokerFilter("$share/g//", knowsSharing: true).levels == [ExactText(""), ExactText("")])
        #expect(BrokerFilter("$share/g/a", knowsSharing: false).group == nil)
        #expect(BrokerFilter("$shared/g/a", knowsSharing: true).group == nil)
    }

    @Test(arguments: 0..<5 as Range<UInt64>)
    func `the subscription tree returns the same matches as a linear search`(seed: UInt64) {
        var state = seed
        func next(_ limit: Int) -> Int {
            state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
            return Int(state >> 33) % limit
        }
        func text(_ levels: [String]) -> String {
            (0...next(4)).map { _ in levels[next(levels.count)] }.joined(separator: "/")
        }
        var tree = SubscriptionTree()
        var model: [SessionID: Set<BrokerFilter>] = [:]
        for _ in 0..<2_000 {
            let session = SessionID(number: UInt64(next(5)))
            var filter = text(["a", "b", "+", "$c", ""]) + (next(4) == 0 ? "/#" : "")
            if filter.isEmpty { filter = "#" }
            let parsed = BrokerFilter(filter, knowsSharing: true)
            if next(3) > 0 {
                let isNew = tree.insert(parsed, of: session, .init(qos: .atMostOnce))
                let isNewToModel = model[session, default: []].insert(parsed).inserted
                #expect(isNew == isNewToModel, "seed \(seed)")
            } else {
                let isKnown = tree.remove(parsed, of: session)
                let isKnownToModel = model[session, default: []].remove(parsed) != nil
                #expect(isKnown == isKnownToModel, "seed \(seed)")
            }
            let topic = ExactText.levels(of: text(["a", "b", "$c", ""]).utf8)
            let found = tree.matches(topic).direct.map(\.session.number).sorted()
            let expected = model.flatMap { session, filters in
                filters.filter { $0.matches(topic) }.map { _ in session.number }
            }
            #expect(found == expected.sorted(), "seed \(seed)")
        }
        for (session, filters) in model { for filter in filters { tree.remove(filter, of: session) } }
        #expect(tree.nodeCount == 0)
    }

    @Test func `the subscription tree handles a filter with 32768 levels without stack overflow`() {
        var tree = SubscriptionTree()
        let filter = BrokerFilter(String(repeating: "+/", count: 32_767), knowsSharing: true)
        _ = tree.insert(filter, of: SessionID(number: 1), .init(qos: .atMostOnce))
        let topic = ExactText.levels(of: String(repeating: "/", count: 32_767).utf8)
        #expect(tree.matches(topic).direct.count == 1)
        tree.remove(filter, of: SessionID(number: 1))
        #expect(tree.nodeCount == 0)
    }

    @Test func `covers() and overlaps() compare two topic filters correctly`() {
        func covers(_ left: String, _ right: String) -> Bool {
            BrokerFilter(left, knowsSharing: false).covers(BrokerFilter(right, knowsSharing: false))
        }
        func overlaps(_ left: String, _ right: String) -> Bool {
            BrokerFilter(left, knowsSharing: false).overlaps(BrokerFilter(right, knowsSharing: false))
        }
        #expect(covers("a/#", "a/+") && covers("a/#", "a") && covers("#", "#") && covers("+/b", "a/b"))
        #expect(!covers("a/+", "a/#") && !covers("a/b", "a/+") && !covers("#", "$SYS/a"))
        #expect(overlaps("a/+", "+/b") && overlaps("a/b", "#") && overlaps("a/#", "a"))
        #expect(!overlaps("a/b", "a/c") && !overlaps("a", "a/b"))
        // [MQTT-4.7.2-1]
        #expect(!overlaps("$SYS/#", "#") && !overlaps("#", "$SYS/#") && !overlaps("+/a", "$SYS/a"))
        #expect(overlaps("$SYS/#", "$SYS/+") && overlaps("a/$b", "a/+"))
    }
}
