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

    @Test func `the topics option accepts the maximum number of filters and throws for one more`() throws {
        let limit = SubscriptionLimits().maximumFilters
        #expect(try ClientSettings(config(limit)).topics.count == limit)
        expectCourierError(.invalidConfiguration, "`topics` has 100001", "at most 100000", "wildcard") {
            try ClientSettings(config(limit + 1))
        }
    }

    @Test func `an invalid filter in the topics option throws an error with the filter and the rule`() {
        var changed = config(1)
        changed.topics["a/#/b"] = .one
        expectCourierError(.invalidConfiguration, "The option `topics`: ", "\"a/#/b\"", "as in a/b/#") {
            try ClientSettings(changed)
        }
    }
}
