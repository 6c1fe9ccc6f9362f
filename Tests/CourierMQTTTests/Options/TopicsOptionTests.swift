import CourierCore
import TestSupport
import Testing

@testable import CourierMQTT

@Suite struct TopicsOptionTests {
    private func config(_ count: Int) -> MQTTClientConfig {
        var config = MQTTClientConfig(options: .local(1_883))
        config.topics = Dictionary(uniqueKeysWithValues: (0..<count).map { ("t/\($0)", QoS.one) })
        return config
    }

    @Test func `as many filters as a client can have are taken, and one more is refused with a remedy`() throws {
        let limit = SubscriptionLimits().maximumFilters
        #expect(try ClientSettings(config(limit)).topics.count == limit)
        expectCourierError(.invalidConfiguration, "`topics` has 100001", "at most 100000", "wildcard") {
            try ClientSettings(config(limit + 1))
        }
    }

    @Test func `a filter that is not legal is named, with the rule that it breaks`() {
        var changed = config(1)
        changed.topics["a/#/b"] = .one
        expectCourierError(.invalidConfiguration, "The option `topics`: ", "\"a/#/b\"", "write it as in a/b/#") {
            try ClientSettings(changed)
        }
    }
}
