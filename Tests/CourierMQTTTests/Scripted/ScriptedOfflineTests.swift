import CourierCore
import CourierTesting
import MQTTCodec
import TestSupport
import Testing

@testable import CourierMQTT

/// Messages that wait for a connection, and the limits of their queue.
@Suite(.timeLimit(.minutes(5))) struct ScriptedOfflineTests {
    /// A broker that refuses the first attempt. The client then has a session, but no connection for one second.
    private static let refusing = [ConnectionScript.connection([.refuse(.serverUnavailable)])]

    private static func offline(
        _ policy: OfflinePolicy, _ body: (ScriptedWorld) async throws -> Void
    ) async throws {
        try await ScriptedWorld.run(refusing) {
            $0.offline = policy
        } _: { world in
            await world.connect()
            try await body(world)
        }
    }

    @Test func `waiting messages are sent in order on the next connection`() async throws {
        try await Self.offline(OfflinePolicy()) { world in
            let outcomes = try (0..<100).map { try world.publish("\($0)", qos: $0 % 2 == 0 ? .one : .two) }
            await world.settle()
            #expect(outcomes.allSatisfy { $0.value == nil })
            await world.run(for: .seconds(2))
            #expect(await world.publishes().map(\.text) == (0..<100).map { "\($0)" })
            #expect(outcomes.allSatisfy { $0.value?.success != nil })
        }
    }

    // MARK: Limits

    @Test func `with overflow = fail, publish() throws queueFull if the queue is full`() async throws {
        try await Self.offline(OfflinePolicy(maximumCount: 3, overflow: .fail)) { world in
            let outcomes = try (0..<3).map { try world.publish("\($0)") }
            do {
                try world.publish("3")
                Issue.record("it was taken")
            } catch let error as CourierError {
                #expect(error.code == .queueFull)
            }
            await #expect(throws: CourierError.self) { try await world.client.publish("4", to: "t") }
            await world.run(for: .seconds(1))
            #expect(await world.publishes().map(\.text) == ["0", "1", "2"])
            #expect(outcomes.allSatisfy { $0.value?.success != nil })
            #expect(world.errors(of: "messageSendFailure").map(\.code) == [.queueFull, .queueFull])
        }
    }

    @Test func `with overflow = dropNewest, publish() returns, and the new message fails with queueFull`()
        async throws
    {
        try await Self.offline(OfflinePolicy(maximumCount: 2, overflow: .dropNewest)) { world in
            let outcomes = try (0..<4).map { try world.publish("\($0)") }
            await world.settle()
            #expect(outcomes.map { $0.value?.failure?.code } == [nil, nil, .queueFull, .queueFull])
            await world.run(for: .seconds(1))
            #expect(await world.publishes().map(\.text) == ["0", "1"])
        }
    }

    @Test(arguments: [QoS.zero, .one])
    func `with overflow = dropNewest, every publish function reports queueFull at QoS 0 and QoS 1`(_ qos: QoS)
        async throws
    {
        let policy = OfflinePolicy(maximumCount: 1, overflow: .dropNewest, queuesQoS0: true)
        try await Self.offline(policy) { world in
            try world.publish("0", qos: qos)
            let outcome = try world.publish("1", qos: qos)
            let awaited = await #expect(throws: CourierError.self) {
                try await world.client.publish("2", to: "t", qos: qos)
            }
            let enqueued = await #expect(throws: CourierError.self) {
                try await world.client.enqueue("3", to: "t", qos: qos)
            }
            try world.client.publishMessage("4", topic: "t", qos: qos)
            await world.settle()
            let told = [outcome.value?.failure, awaited, enqueued]
            #expect(told.map { $0?.code } == [.queueFull, .queueFull, .queueFull])
            #expect(Set(told.map { $0?.message }).count == 1)
            #expect(world.errors(of: "messageSendFailure").map(\.code) == Array(repeating: .queueFull, count: 4))
            await world.run(for: .seconds(1))
            #expect(await world.publishes().map(\.text) == ["0"])
        }
    }

    @Test func `with overflow = dropOldest, the oldest waiting message fails with queueFull`() async throws {
        try await Self.offline(OfflinePolicy(maximumCount: 2, overflow: .dropOldest)) { world in
            let outcomes = try (0..<4).map { try world.publish("\($0)") }
            await world.settle()
            #expect(outcomes.map { $0.value?.failure?.code } == [.queueFull, .queueFull, nil, nil])
            await world.run(for: .seconds(1))
            #expect(await world.publishes().map(\.text) == ["2", "3"])
        }
    }

    @Test func `maximumBytes counts the bytes of topics and payloads`() async throws {
        try await Self.offline(OfflinePolicy(maximumBytes: 20, overflow: .dropNewest)) { world in
            let outcomes = try ["12345678", "12345678", "12345678", "1"].map { try world.publish($0) }
            await world.settle()
            // Two messages of 9 bytes with the topic fit, the next 9 bytes do not, and the last 2 bytes fit.
            #expect(outcomes.map { $0.value?.failure?.code } == [nil, nil, .queueFull, nil])
        }
    }

    @Test func `a message larger than maximumBytes fails with queueFull and removes no waiting message`()
        async throws
    {
        try await Self.offline(OfflinePolicy(maximumBytes: 20, overflow: .dropOldest)) { world in
            let small = try world.publish("y")
            expectCourierError(.queueFull, "101 bytes") { try world.publish(String(repeating: "x", count: 100)) }
            await world.run(for: .seconds(1))
            #expect(small.value?.success != nil)
        }
    }

    @Test func `with overflow = suspend, publish() throws queueFull if the queue stays full until the timeout`()
        async throws
    {
        let policy = OfflinePolicy(maximumCount: 2, overflow: .suspend(timeout: .seconds(30)))
        let endless = ConnectionScript.connection([.expect(.connect), .stall])
        try await ScriptedWorld.run(Array(repeating: endless, count: 9)) {
            $0.offline = policy
        } _: { world in
            await world.connect()
            let outcomes = try (0..<2).map { try world.publish("\($0)") }
            let task = Task { [client = world.client] in try await client.publish("late", to: "t") }
            await world.until { world.client.waitingCount == 1 }
            await world.run(for: .milliseconds(29_999))
            #expect(world.client.waitingCount == 1)
            await world.run(for: .milliseconds(1))
            do {
                _ = try await task.value
                Issue.record("it was taken")
            } catch let error as CourierError {
                #expect(error.code == .queueFull)
            }
            #expect(outcomes.allSatisfy { $0.value == nil })
        }
    }

    @Test func `with overflow = suspend, publish() succeeds when the queue has room before the timeout`() async throws {
        let policy = OfflinePolicy(maximumCount: 2, overflow: .suspend(timeout: .seconds(30)))
        try await Self.offline(policy) { world in
            let outcomes = try (0..<2).map { try world.publish("\($0)") }
            #expect(throws: CourierError.self) { try world.publish("no") }
            let task = Task { [client = world.client] in try await client.publish("late", to: "t") }
            await world.until { world.client.waitingCount == 1 }
            await world.run(for: .seconds(1))
            #expect(try await task.value.reasonCode == .success)
            #expect(outcomes.allSatisfy { $0.value?.success != nil })
            #expect(await world.publishes().map(\.text) == ["0", "1", "late"])
        }
    }

    @Test func `a suspended publish() is not sent if its task is cancelled`() async throws {
        let policy = OfflinePolicy(maximumCount: 1, overflow: .suspend(timeout: .seconds(30)))
        try await Self.offline(policy) { world in
            try world.publish("0")
            let task = Task { [client = world.client] in try await client.publish("late", to: "t") }
            await world.until { world.client.waitingCount == 1 }
            task.cancel()
            await #expect(throws: CancellationError.self) { try await task.value }
            await world.run(for: .seconds(40))
            #expect(await world.publishes().map(\.text) == ["0"])
        }
    }

    // MARK: Time

    @Test func `a waiting message fails with messageExpired after maximumAge`() async throws {
        let policy = OfflinePolicy(maximumAge: .seconds(5))
        let closed = Array(repeating: ConnectionScript.connection([.refuse(.serverUnavailable)]), count: 4)
        try await ScriptedWorld.run(closed) {
            $0.offline = policy
        } _: { world in
            await world.connect()
            let outcome = try world.publish("old")  // Attempts follow after 1, 3, 7 and 15 s.
            await world.run(for: .seconds(4))
            let young = try world.publish("young")
            #expect(outcome.value == nil)
            await world.run(for: .milliseconds(1_500))
            #expect(outcome.value?.failure?.code == .messageExpired)
            #expect(young.value == nil)
            await world.run(for: .milliseconds(4_000))
            #expect(young.value?.failure?.code == .messageExpired)
            await world.run(for: .seconds(20))
            #expect(await world.publishes().isEmpty)
        }
    }

    @Test func `a message published during a connection attempt expires after maximumAge, during the attempt`()
        async throws
    {
        let silent = ConnectionScript.connection([.expect(.connect), .stall])
        try await ScriptedWorld.run([silent]) {
            $0.offline.maximumAge = .seconds(3)
        } _: { world in
            await world.connect()
            let outcome = try world.publish("x")
            await world.run(for: .milliseconds(3_500))  // The attempt waits up to ten seconds for CONNACK.
            #expect(outcome.value?.failure?.code == .messageExpired)
        }
    }

    @Test func `a waiting message fails after its messageExpiry, and PUBLISH has the remaining expiry`() async throws {
        try await Self.offline(OfflinePolicy()) { world in
            let outcomes = [Box<Result<PublishReceipt, CourierError>>(), Box()]
            for (outcome, expiry) in zip(outcomes, [Duration.milliseconds(500), .seconds(60)]) {
                try world.client.publish(
                    bytes: [1], to: "t", qos: .one, retain: false,
                    properties: MessageProperties(messageExpiry: expiry)
                ) { outcome.value = $0 }
            }
            await world.run(for: .seconds(2))
            #expect(outcomes[0].value?.failure?.code == .messageExpired)
            #expect(outcomes[1].value?.success != nil)
            #expect(await world.publishes().map(\.properties.messageExpiryInterval) == [59])
        }
    }

    /// [MQTT-3.3.2-5]
    @Test func `maximumAge does not change the message expiry that is sent to the broker`() async throws {
        try await Self.offline(OfflinePolicy(maximumAge: .seconds(5))) { world in
            let plain = try world.publish("no expiry of its own")
            let own = Box<Result<PublishReceipt, CourierError>>()
            try world.client.publish(
                bytes: [1], to: "t", qos: .one, retain: true,
                properties: MessageProperties(messageExpiry: .seconds(60))
            ) { own.value = $0 }
            await world.run(for: .seconds(2))
            #expect(plain.value?.success != nil)
            #expect(own.value?.success != nil)
            #expect(await world.publishes().map(\.properties.messageExpiryInterval) == [nil, 59])
        }
    }

    @Test func `a waiting message expires after a connection loss, before the next connection`() async throws {
        let full = ConnectionScript.connection([
            .accept(properties: [.receiveMaximum(1)]), .expect(.publish), .pause(.seconds(2)), .cut(.orderly),
        ])
        let closed = Array(repeating: ConnectionScript.connection([.refuse(.serverUnavailable)]), count: 20)
        try await ScriptedWorld.run([full] + closed) { world in
            await world.connect()
            let sent = try world.publish("sent")
            let waiting = Box<Result<PublishReceipt, CourierError>>()
            try world.client.publish(
                bytes: [1], to: "t", qos: .one, retain: false,
                properties: MessageProperties(messageExpiry: .seconds(5))
            ) { waiting.value = $0 }
            await world.run(for: .seconds(4))
            #expect(world.client.connectionState != .connected)
            #expect(waiting.value == nil)
            await world.run(for: .seconds(2))
            #expect(waiting.value?.failure?.code == .messageExpired)
            #expect(sent.value == nil)
            #expect(await world.publishes().map(\.text) == ["sent"])
        }
    }

    // MARK: Latest-only messages

    @Test func `a new latest-only message replaces the waiting message of the same topic and is sent last`()
        async throws
    {
        try await Self.offline(OfflinePolicy()) { world in
            let client = world.client
            var tasks: [Task<PublishReceipt, any Error>] = []
            for number in 0..<3 {
                tasks.append(
                    Task {
                        let request = PublishRequest(topic: TopicTemplate(exactly: "state"), isLatestOnly: true)
                        return try await client.publish("state \(number)", as: request)
                    })
                await world.until {
                    world.events.count { $0 == "messageSend" } == tasks.count + min(number, 1)
                        && client.waitingCount == 1
                }
                if number == 0 { try world.publish("other") }
            }
            await world.run(for: .seconds(1))
            var codes: [CourierError.Code?] = []
            for task in tasks { codes.append((await task.result.failure as? CourierError)?.code) }
            #expect(codes == [.messageReplaced, .messageReplaced, nil])
            #expect(await world.publishes().map(\.text) == ["other", "state 2"])
        }
    }

    // MARK: QoS 0

    @Test func `a QoS 0 publish without a connection fails, unless queuesQoS0 is set`() async throws {
        try await Self.offline(OfflinePolicy()) { world in
            do {
                try world.client.publishMessage("x", topic: "t", qos: .zero)
                Issue.record("it was taken")
            } catch let error as CourierError {
                #expect(error.code == .connectionLost)
            }
            await world.run(for: .seconds(1))
            #expect(await world.publishes().isEmpty)
            #expect(world.errors(of: "messageSendFailure").map(\.code) == [.connectionLost])
        }
        try await Self.offline(OfflinePolicy(queuesQoS0: true)) { world in
            for number in 0..<5 {
                try world.client.publish(text: "\(number)", to: "t", qos: number % 2 == 0 ? .zero : .one)
            }
            await world.run(for: .seconds(1))
            #expect(await world.publishes().map(\.text) == ["0", "1", "2", "3", "4"])
        }
    }

    // MARK: After a reconnect

    @Test func `after a reconnect, a long queue is sent with drainCount messages per drainInterval`() async throws {
        let policy = OfflinePolicy(drainCount: 10, drainInterval: .seconds(1))
        try await Self.offline(policy) { world in
            for number in 0..<35 { try world.publish("\(number)") }
            await world.run(for: .seconds(1))
            #expect(await world.publishes().count == 10)
            await world.run(for: .milliseconds(999))
            #expect(await world.publishes().count == 10)
            await world.run(for: .milliseconds(1))
            #expect(await world.publishes().count == 20)
            await world.run(for: .seconds(2))
            #expect(await world.publishes().map(\.text) == (0..<35).map { "\($0)" })
        }
    }

    @Test func `messages published while a long queue is being sent are sent after the queued messages`() async throws {
        let policy = OfflinePolicy(drainCount: 10, drainInterval: .seconds(1))
        try await Self.offline(policy) { world in
            for number in 0..<30 { try world.publish("\(number)") }
            await world.run(for: .seconds(1))
            for number in 30..<35 {
                try world.publish("\(number)")
                await world.settle()
            }
            #expect(await world.publishes().count == 10)
            await world.run(for: .seconds(5))
            #expect(await world.publishes().map(\.text) == (0..<35).map { "\($0)" })
        }
    }

    @Test func `no message is lost if the connection breaks while the queue is sent`() async throws {
        let script: [ConnectionScript] = [
            .connection([.refuse(.serverUnavailable)]),
            .connection([.accept(), .fault(.drop(.pubAck, count: .max)), .pause(.milliseconds(1_500)), .cut(.reset)]),
            .connection([.accept(isSessionPresent: true)]),
        ]
        try await ScriptedWorld.run(script) {
            $0.offline = OfflinePolicy(drainCount: 10, drainInterval: .seconds(1))
        } _: { world in
            await world.connect()
            let outcomes = try (0..<50).map { try world.publish("\($0)") }
            await world.run(for: .seconds(30))
            #expect(outcomes.allSatisfy { $0.value?.success != nil })
            let texts = await world.publishes(on: 3).map(\.text)
            #expect(texts.count == 50)
            #expect(Set(texts) == Set((0..<50).map { "\($0)" }))
        }
    }

    @Test func `publish() throws sessionMissing if the client has no session`() async throws {
        try await ScriptedWorld.run { world in
            do {
                try world.publish("x")
                Issue.record("it was taken")
            } catch let error as CourierError {
                #expect(error.code == .sessionMissing)
            }
        }
    }

    /// [MQTT-4.4.0-1], [MQTT-4.6.0-1]
    @Test func `in-flight and waiting messages survive disconnect() and are sent before later messages`()
        async throws
    {
        let script: [ConnectionScript] = [
            .connection([.accept(), .fault(.hold(.pubAck, until: ScriptGate()))]),
            .connection([.accept(isSessionPresent: true)]),
        ]
        try await ScriptedWorld.run(script) {
            $0.limits.maximumInFlight = 1
        } _: { world in
            await world.connect()
            var outcomes = try ["in flight", "waiting"].map { try world.publish($0) }
            await world.settle()
            world.client.disconnect()
            await world.settle()
            #expect(world.client.connectionState == .disconnected)
            outcomes.append(try world.publish("late"))
            await world.run(for: .seconds(5))
            #expect(await world.publishes().map(\.text) == ["in flight"])
            #expect(outcomes.allSatisfy { $0.value == nil })
            await world.connect()
            await world.run(for: .seconds(5))
            let publishes = await world.publishes(on: 2)
            #expect(publishes.map(\.text) == ["in flight", "waiting", "late"])
            #expect(publishes.map(\.delivery.isDuplicate) == [true, false, false])
            #expect(outcomes.allSatisfy { $0.value?.success != nil })
        }
    }

    @Test func `a waiting message survives disconnect() and fails with clientDestroyed after destroy()`() async throws {
        let silent = ConnectionScript.connection([.expect(.connect), .stall])
        try await ScriptedWorld.run([silent, silent]) { world in
            await world.connect()
            let kept = try world.publish("kept")
            world.client.disconnect()
            await world.settle()
            #expect(kept.value == nil)
            await world.connect()
            world.client.destroy()
            await world.settle()
            #expect(kept.value?.failure?.code == .clientDestroyed)
            #expect(!world.client.hasExistingSession)
            await world.connect()
            #expect(await world.broker.connections.map(\.connect?.isCleanStart) == [false, false, true])
            #expect(await world.publishes().isEmpty)
        }
    }
}
