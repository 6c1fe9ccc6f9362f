import CourierCore
import CourierTransport
import MQTTCodec
import MQTTEngine
import TestSupport
import Testing

@testable import CourierMQTT

@Suite struct KeepAliveSettingsTests {
    struct Mistake: Sendable, CustomTestStringConvertible {
        let testDescription: String
        let make: @Sendable (inout AdaptiveKeepAlive) -> Void
        init(_ part: String, _ make: @escaping @Sendable (inout AdaptiveKeepAlive) -> Void) {
            testDescription = part
            self.make = make
        }
    }

    private func config(_ keepAlive: AdaptiveKeepAlive?) -> MQTTClientConfig {
        var config = MQTTClientConfig(options: .local(1883))
        config.session.adaptiveKeepAlive = keepAlive
        return config
    }

    @Test(arguments: [
        Mistake("minimumInterval") { $0.minimumInterval = .milliseconds(99) },
        Mistake("minimumInterval") { $0.minimumInterval = .seconds(901) },
        Mistake("maximumInterval") { $0.maximumInterval = .seconds(43_201) },
        Mistake("maximumInterval") { $0.maximumInterval = .seconds(Int64.max) },
        Mistake("maximumInterval") { $0.maximumInterval = .seconds(Int64.min) },
        Mistake("step is 0") { $0.step = .zero },
        Mistake("step is -1") { $0.step = .seconds(-1) },
        Mistake("retryTime") { $0.retryTime = .seconds(899) },
    ])
    func `an adaptive keep-alive value out of range throws invalidConfiguration with the option's name`(
        _ mistake: Mistake
    ) {
        var keepAlive = AdaptiveKeepAlive()
        mistake.make(&keepAlive)
        expectCourierError(.invalidConfiguration, mistake.testDescription) { _ = try ClientSettings(config(keepAlive)) }
    }

    @Test func `the smallest and largest adaptive intervals are allowed and fit into CONNECT`() throws {
        var keepAlive = AdaptiveKeepAlive(
            minimumInterval: .seconds(43_200), maximumInterval: .seconds(43_200), step: .milliseconds(100))
        keepAlive.retryTime = .seconds(Int64.max)
        #expect(try plan(keepAlive).engine.connect.keepAlive == 48_000)
        keepAlive = AdaptiveKeepAlive(
            minimumInterval: .milliseconds(100), maximumInterval: .milliseconds(100), step: .seconds(43_200))
        #expect(try plan(keepAlive).engine.connect.keepAlive == 1)
    }

    @Test func `adaptive keep-alive sets a long keep-alive in CONNECT and disables TCP keep-alive`() throws {
        let adaptive = try plan(AdaptiveKeepAlive())
        #expect(adaptive.engine.connect.keepAlive == 1_000)
        #expect(adaptive.channel.keepAliveIdle == nil)
        let fixed = try plan(nil)
        #expect(fixed.engine.connect.keepAlive == 60)
        #expect(fixed.channel.keepAliveIdle == .seconds(60))
    }

    @Test func `a read timeout too short for the adaptive keep-alive throws invalidConfiguration`() throws {
        var config = config(AdaptiveKeepAlive())
        config.idleActivityTimeoutPolicy = IdleActivityTimeoutPolicy(isEnabled: true, readTimeout: 1_800)
        expectCourierError(.invalidConfiguration, "readTimeout") { _ = try ClientSettings(config) }
        config.idleActivityTimeoutPolicy.readTimeout = 1_801
        _ = try ClientSettings(config)
        config.idleActivityTimeoutPolicy = IdleActivityTimeoutPolicy(isEnabled: false, readTimeout: 10)
        _ = try ClientSettings(config)
    }

    private func plan(_ keepAlive: AdaptiveKeepAlive?) throws -> ConnectPlan {
        try ClientSettings(config(keepAlive)).plan(for: .local(1883, id: "c"))
    }
}
