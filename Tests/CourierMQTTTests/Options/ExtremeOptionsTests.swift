import CourierCore
import CourierTesting
import Dispatch
import Foundation
import MQTTCodec
import TestSupport
import Testing

@testable import CourierMQTT

/// Every number that an app can set, at the ends of its type: the client accepts it or throws an error, and never ends
/// the process.
@Suite(.timeLimit(.minutes(5))) struct ExtremeOptionsTests {
    private struct Change {
        let name: String
        let make: (inout MQTTClientConfig) -> Void
    }

    private static let counts = [Int.min, -1, 0, 1, 65_535, 65_536, .max - 1_000, .max - 1, .max]
    private static let shorts: [UInt16] = [0, 1, .max]
    private static let times: [Duration] = [
        .seconds(Int64.min), .seconds(-1), .nanoseconds(-1), .zero, .nanoseconds(1), .seconds(86_401),
        .seconds(4_294_967_296), .seconds(Int64.max),
    ]
    private static let intervals: [TimeInterval] = [
        -.infinity, -.greatestFiniteMagnitude, -1, 0, .leastNonzeroMagnitude, 999_999_999, 1e9,
        .greatestFiniteMagnitude, .infinity, .nan,
    ]

    private struct Changes {
        private(set) var list: [Change] = []

        mutating func add<Value>(
            _ name: String, _ values: [Value], _ set: @escaping (inout MQTTClientConfig, Value) -> Void
        ) {
            for value in values {
                list.append(Change(name: "\(name) = \(value)") { config in set(&config, value) })
            }
        }
    }

    private static func limits(_ changes: inout Changes) {
        changes.add("autoReconnectInterval", shorts) { $0.autoReconnectInterval = $1 }
        changes.add("maxAutoReconnectInterval", shorts) { $0.maxAutoReconnectInterval = $1 }
        changes.add("receiveMaximum", shorts) { $0.limits.receiveMaximum = $1 }
        changes.add("maximumInFlight", counts) { $0.limits.maximumInFlight = $1 }
        changes.add("maximumPacketSize", counts) { $0.limits.maximumPacketSize = $1 }
        changes.add("maximumKeptMessages", counts) { $0.limits.maximumKeptMessages = $1 }
        changes.add("maximumKeptBytes", counts) { $0.limits.maximumKeptBytes = $1 }
        changes.add("endpoints.maximumCount", counts) { $0.endpoints.maximumCount = $1 }
        changes.add("offline.maximumCount", counts) { $0.offline.maximumCount = $1 }
        changes.add("offline.maximumBytes", counts) { $0.offline.maximumBytes = $1 }
        changes.add("offline.drainCount", counts) { $0.offline.drainCount = $1 }
    }

    private static func durations(_ changes: inout Changes) {
        changes.add("sessionExpiry", times) { $0.session.expiry = $1 }
        changes.add("reconnect.stableConnectionTime", times) { $0.reconnect.stableConnectionTime = $1 }
        changes.add("acknowledgementTimeout", times) { $0.session.acknowledgementTimeout = $1 }
        changes.add("will.delay", times) { $0.will = WillMessage(topic: "a", text: "", delay: $1) }
        changes.add("endpoints.returnsToPreferred", times) { $0.endpoints.returnsToPreferred = .after($1) }
        changes.add("offline.maximumAge", times) { $0.offline.maximumAge = $1 }
        changes.add("offline.drainInterval", times) { $0.offline.drainInterval = $1 }
        changes.add("offline.overflow", times) { $0.offline.overflow = .suspend(timeout: $1) }
        changes.add("adaptiveKeepAlive.minimumInterval", times) {
            $0.session.adaptiveKeepAlive = AdaptiveKeepAlive(minimumInterval: $1)
        }
        changes.add("adaptiveKeepAlive.maximumInterval", times) {
            $0.session.adaptiveKeepAlive = AdaptiveKeepAlive(maximumInterval: $1)
        }
        changes.add("adaptiveKeepAlive.step", times) { $0.session.adaptiveKeepAlive = AdaptiveKeepAlive(step: $1) }
        changes.add("adaptiveKeepAlive.retryTime", times) {
            $0.session.adaptiveKeepAlive = AdaptiveKeepAlive()
            $0.session.adaptiveKeepAlive?.retryTime = $1
        }
    }

    private static func seconds(_ changes: inout Changes) {
        changes.add("authenticationTimeoutInterval", intervals) {
            $0.enableAuthenticationTimeout = true
            $0.authenticationTimeoutInterval = $1
        }
        changes.add("messagePersistenceTTLSeconds", intervals) { $0.messagePersistenceTTLSeconds = $1 }
        changes.add("messageCleanupInterval", intervals) { $0.messageCleanupInterval = $1 }
        changes.add("connectTimeoutPolicy.timeout", intervals) {
            $0.connectTimeoutPolicy = ConnectTimeoutPolicy(isEnabled: true, timeout: $1)
        }
        changes.add("connectTimeoutPolicy.timerInterval", intervals) {
            $0.connectTimeoutPolicy = ConnectTimeoutPolicy(isEnabled: true, timerInterval: $1)
        }
        changes.add("idleActivityTimeoutPolicy.timerInterval", intervals) {
            $0.idleActivityTimeoutPolicy = IdleActivityTimeoutPolicy(isEnabled: true, timerInterval: $1)
        }
        changes.add("idleActivityTimeoutPolicy.inactivityTimeout", intervals) {
            $0.idleActivityTimeoutPolicy = IdleActivityTimeoutPolicy(isEnabled: true, inactivityTimeout: $1)
        }
        changes.add("idleActivityTimeoutPolicy.readTimeout", intervals) {
            $0.idleActivityTimeoutPolicy = IdleActivityTimeoutPolicy(isEnabled: true, readTimeout: $1)
        }
    }

    private static func config() -> MQTTClientConfig {
        var config = MQTTClientConfig(options: .local(1_883))
        config.deliveryQueue = DispatchQueue(label: "test.delivery")
        config.environment.networkMonitor = AlwaysAvailableNetwork()
        return config
    }

    @Test func `each extreme number in the configuration is accepted or throws invalidConfiguration`() throws {
        let factory = CourierClientFactory()
        var changes = Changes()
        Self.limits(&changes)
        Self.durations(&changes)
        Self.seconds(&changes)
        for change in changes.list {
            var config = Self.config()
            change.make(&config)
            var refusal: CourierError?
            do {
                try factory.validate(config)
                let settings = try ClientSettings(config)
                _ = try settings.plan(for: .local(1_883))
            } catch {
                refusal = try #require(error as? CourierError, "\(change.name)")
            }
            if let refusal { #expect(refusal.code == .invalidConfiguration, "\(change.name): \(refusal)") }
            let client = factory.makeMQTTClient(config: config)
            #expect((client is MisconfiguredClient) == (refusal != nil), "\(change.name)")
        }
    }

    @Test
    func `each pair of an extreme port and an extreme keep-alive value is accepted or throws invalidConfiguration`()
        throws
    {
        let settings = try ClientSettings(Self.config())
        for port in Self.shorts {
            for keepAlive in Self.shorts {
                let options = ConnectOptions(
                    host: "127.0.0.1", port: port, keepAlive: keepAlive, clientId: "c", username: "", password: "")
                do throws(CourierError) {
                    _ = try settings.plan(for: options)
                } catch {
                    #expect(error.code == .invalidConfiguration)
                }
            }
        }
    }

    @Test func `a buffer limit below 1 becomes 1, and each larger limit is unchanged`() {
        for limit in Self.counts {
            #expect(ReadBuffer(limit: limit).limit == max(1, limit))
            #expect(BufferPolicy(limit: limit).limit == max(1, limit))
        }
    }

    @Test func `an invalid offline policy throws an error with the name and value of the option`() {
        for (name, policy) in [
            ("offline.maximumCount is 0", OfflinePolicy(maximumCount: 0)),
            ("offline.maximumBytes is -1", OfflinePolicy(maximumBytes: -1)),
            ("offline.drainCount is 0", OfflinePolicy(drainCount: 0)),
            ("offline.drainInterval is -1.0 seconds", OfflinePolicy(drainInterval: .seconds(-1))),
            ("offline.overflow is -1.0 seconds", OfflinePolicy(overflow: .suspend(timeout: .seconds(-1)))),
            ("offline.maximumAge is 0.0 seconds", OfflinePolicy(maximumAge: .zero)),
        ] {
            var config = Self.config()
            config.offline = policy
            expectCourierError(.invalidConfiguration, name) { try CourierClientFactory().validate(config) }
        }
        var config = Self.config()
        config.reconnect.stableConnectionTime = .seconds(-1)
        expectCourierError(.invalidConfiguration, "reconnect.stableConnectionTime is -1.0 seconds") {
            try CourierClientFactory().validate(config)
        }
    }

    @Test(arguments: [false, true])
    func `a timeout of 0 throws an error with its name only if the timeout is enabled`(_ isEnabled: Bool) throws {
        let changes: [(String, (inout MQTTClientConfig) -> Void)] = [
            (
                "authenticationTimeoutInterval",
                {
                    $0.enableAuthenticationTimeout = isEnabled
                    $0.authenticationTimeoutInterval = 0
                }
            ),
            (
                "connectTimeoutPolicy.timeout",
                { $0.connectTimeoutPolicy = ConnectTimeoutPolicy(isEnabled: isEnabled, timeout: 0) }
            ),
            (
                "idleActivityTimeoutPolicy.inactivityTimeout",
                {
                    $0.idleActivityTimeoutPolicy = IdleActivityTimeoutPolicy(
                        isEnabled: isEnabled, inactivityTimeout: 0)
                }
            ),
            (
                "idleActivityTimeoutPolicy.readTimeout",
                { $0.idleActivityTimeoutPolicy = IdleActivityTimeoutPolicy(isEnabled: isEnabled, readTimeout: 0) }
            ),
        ]
        for (name, change) in changes {
            var config = Self.config()
            change(&config)
            if isEnabled {
                expectCourierError(.invalidConfiguration, "\(name) is 0.0") {
                    try CourierClientFactory().validate(config)
                }
            } else {
                try CourierClientFactory().validate(config)
            }
        }
    }

    @Test func `a client with the largest limits and times delivers its waiting messages`() async throws {
        let refusing = [ConnectionScript.connection([.refuse(.serverUnavailable)])]
        try await ScriptedWorld.run(refusing) {
            $0.offline = OfflinePolicy(
                maximumCount: .max, maximumBytes: .max, maximumAge: .seconds(Int64.max),
                overflow: .suspend(timeout: .seconds(Int64.max)), queuesQoS0: true, drainCount: .max,
                drainInterval: .seconds(Int64.max))
            $0.limits.maximumKeptMessages = .max
            $0.endpoints.maximumCount = .max
            $0.reconnect.stableConnectionTime = .seconds(Int64.max)
            $0.messagePersistenceTTLSeconds = 999_999_999
            $0.messageCleanupInterval = 999_999_999
        } _: { world in
            await world.connect()
            let outcomes = try [QoS.zero, .one, .two].map { try world.publish("x", qos: $0) }
            await world.run(for: .seconds(2))
            #expect(outcomes.allSatisfy { $0.value?.success != nil })
            #expect(await world.publishes().count == 3)
        }
    }
}
