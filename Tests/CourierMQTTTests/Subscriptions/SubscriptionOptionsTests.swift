import CourierCore
import MQTTCodec
import Testing

@testable import CourierMQTT

struct SubscriptionOptionsTests {
    @Test(arguments: [
        (SubscriptionOptions.RetainedMessages.always, Subscription.RetainHandling.send),
        (.ofNewSubscriptions, .sendIfNew), (.never, .doNotSend),
    ])
    func `SUBSCRIBE of MQTT 5 contains the requested subscription options`(
        wanted: SubscriptionOptions.RetainedMessages, handling: Subscription.RetainHandling
    ) throws {
        let options = SubscriptionOptions(retainedMessages: wanted, keepsRetainFlag: true, leavesOutOwnMessages: true)
        #expect(
            options.entry(for: try TopicFilter("a/#"), .one, in: .v5)
                == Subscription(
                    "a/#", qos: .atLeastOnce, isNoLocal: true, isRetainAsPublished: true, retainHandling: handling))
    }

    @Test func `SUBSCRIBE of MQTT 3 contains only the filter and the QoS`() throws {
        let options = SubscriptionOptions(
            retainedMessages: .never, keepsRetainFlag: true, leavesOutOwnMessages: true)
        #expect(
            options.entry(for: try TopicFilter("a"), .two, in: .v311) == Subscription("a", qos: .exactlyOnce))
    }

    @Test func `a shared subscription is requested without No Local`() throws {
        let options = SubscriptionOptions(leavesOutOwnMessages: true)
        #expect(!options.entry(for: try TopicFilter("$share/g/a"), .zero, in: .v5).isNoLocal)  // [MQTT-3.8.3-4]
    }
}
