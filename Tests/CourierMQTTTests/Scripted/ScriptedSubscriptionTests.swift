import CourierCore
import CourierTesting
import CourierTransport
import MQTTCodec
import Testing

@testable import CourierMQTT

/// Subscriptions over several connections.
@Suite(.timeLimit(.minutes(5))) struct ScriptedSubscriptionTests {
    static func filters(_ world: ScriptedWorld, on connection: Int) async -> [[String]] {
        await world.broker.packets(.subscribe, on: connection)
            .compactMap { $0.packet.subscribe?.subscriptions.map(\.filter).sorted() }
    }

    private static func ended(_ world: ScriptedWorld, on connection: Int) async -> [[String]] {
        await world.broker.packets(.unsubscribe, on: connection).compactMap { $0.packet.unsubscribe?.filters.sorted() }
    }

    @Test func `if the task of subscribe() is cancelled, no waiter remains, and SUBSCRIBE is still sent`()
        async throws
    {
        try await ScriptedWorld.run([.connection([.refuse(.serverUnavailable)])]) { world in
            await world.connect()
            let calls = [
                Task { _ = try await world.client.subscribe(to: "a") },
                Task { try await world.client.unsubscribe(from: "b") },
            ]
            await world.until { world.client.waitingCount > 0 }
            for call in calls { call.cancel() }
            _ = await calls[0].result
            _ = await calls[1].result
            await world.settle()
            let waiting = Box<Int>()
            world.loop.execute { waiting.value = world.client.parts.coordinator.subscriptions.waitingCount }
            await world.until { waiting.value == 0 }
            await world.run(for: .seconds(1))
            #expect(await Self.filters(world, on: 2) == [["a"]])
        }
    }

    /// Subscribes to "a" and "b", loses the connection, then subscribes to "c" and unsubscribes from "a" offline.
    private static func change(
        isSessionPresent: Bool, _ body: (ScriptedWorld) async throws -> Void
    ) async throws {
        let script: [ConnectionScript] = [
            .connection([.accept(), .serve(until: .publish(to: "cut")), .cut(.orderly)]),
            .connection([.accept(isSessionPresent: isSessionPresent)]),
        ]
        try await ScriptedWorld.run(script) { world in
            await world.connect()
            world.client.subscribe(("a", .one), ("b", .two))
            await world.settle()
            try world.client.publishMessage("x", topic: "cut", qos: .zero)
            await world.settle()
            #expect(world.client.connectionState == .disconnected)
            world.client.subscribe(("c", .one))
            world.client.unsubscribe("a")
            await world.run(for: .seconds(1))
            try await body(world)
        }
    }

    @Test func `with a session, only changed subscriptions are sent after a reconnect`() async throws {
        try await Self.change(isSessionPresent: true) { world in
            #expect(await Self.filters(world, on: 2) == [["c"]])
            #expect(await Self.ended(world, on: 2) == [["a"]])
        }
    }

    @Test func `without a session, all subscriptions are sent in one packet after a reconnect`() async throws {
        try await Self.change(isSessionPresent: false) { world in
            #expect(await Self.filters(world, on: 2) == [["b", "c"]])
        }
    }

    @Test func `without a session, configured topics are subscribed on every connection`() async throws {
        let lost = ConnectionScript.connection([.accept(), .pause(.seconds(1)), .cut(.orderly)])
        try await ScriptedWorld.run([lost]) {
            $0.topics = ["a": .one, "b/#": .two]
        } _: { world in
            await world.connect()
            await world.run(for: .seconds(2))
            #expect(await Self.filters(world, on: 1) == [["a", "b/#"]])
            #expect(await Self.filters(world, on: 2) == [["a", "b/#"]])
        }
    }

    @Test func `configured topics are subscribed even if CONNACK reports a session unknown to the client`()
        async throws
    {
        try await ScriptedWorld.run([.connection([.accept(isSessionPresent: true)])]) {
            $0.topics = ["a": .one]
        } _: {
            world in
            await world.connect()
            #expect(await Self.filters(world, on: 1) == [["a"]])
            #expect(world.client.connectionState == .connected)
        }
    }

    @Test func `an unanswered UNSUBSCRIBE is sent again if the session still exists`() async throws {
        let script: [ConnectionScript] = [
            .connection([.accept(), .serve(until: .unsubscribe), .cut(.orderly)]),
            .connection([.accept(isSessionPresent: true)]),
        ]
        try await ScriptedWorld.run(script) { world in
            await world.connect()
            world.client.subscribe(("a", .one))
            await world.settle()
            let outcome = Box<Result<Void, CourierError>>()
            world.client.unsubscribe("a") { outcome.value = $0 }
            await world.settle()
            #expect(outcome.value == nil)
            await world.run(for: .seconds(1))
            #expect(await Self.ended(world, on: 2) == [["a"]])
            #expect(outcome.value?.failure == nil && outcome.value != nil)
            #expect(world.events.count { $0 == "unsubscribeAttempt" } == 2)
            #expect(world.events.count { $0 == "unsubscribeFailure" } == 1)
            #expect(world.events.count { $0 == "unsubscribeSuccess" } == 1)
        }
    }

    @Test func `a pending unsubscribe() succeeds without another packet if the session is lost`() async throws {
        let script = ConnectionScript.connection([.accept(), .serve(until: .unsubscribe), .cut(.orderly)])
        try await ScriptedWorld.run([script]) { world in
            await world.connect()
            world.client.subscribe(("a", .one))
            await world.settle()
            let outcome = Box<Result<Void, CourierError>>()
            world.client.unsubscribe("a") { outcome.value = $0 }
            await world.run(for: .seconds(1))
            #expect(outcome.value?.success != nil)
            #expect(await Self.ended(world, on: 2).isEmpty)
            #expect(await Self.filters(world, on: 2).isEmpty)
        }
    }

    @Test(arguments: [ProtocolVersionPolicy.version5, .version311])
    func `a refused filter fails, and other filters of the same SUBSCRIBE succeed`(_ version: ProtocolVersionPolicy)
        async throws
    {
        let answer = SubAck(packetID: 1, reasonCodes: [.grantedQoS1, .unspecifiedError, .success])
        let script = ConnectionScript.connection([.accept(), .serve(until: .subscribe), .send(.subAck(answer))])
        try await ScriptedWorld.run([script]) {
            $0.protocolVersion = version
        } _: { world in
            let outcomes = ["a", "b", "c"].map { filter in
                let outcome = Box<Result<QoS, CourierError>>()
                world.client.subscribe(filter, qos: .one) { outcome.value = $0 }
                return outcome
            }
            await world.connect()
            #expect(await Self.filters(world, on: 1) == [["a", "b", "c"]])
            #expect(outcomes[0].value?.success == .one)
            #expect(outcomes[1].value?.failure?.code == .subscriptionRefused)
            #expect(outcomes[1].value?.failure?.message.contains("\"b\"") == true)
            #expect(outcomes[2].value?.success == .zero)
            #expect(world.errors(of: "subscribeFailure").map(\.code) == [.subscriptionRefused])
        }
    }

    @Test func `after disconnect() and connect(), subscribe() succeeds even if the broker refused the filter before`()
        async throws
    {
        let answer = SubAck(packetID: 1, reasonCodes: [.notAuthorized])
        let script = ConnectionScript.connection([.accept(), .serve(until: .subscribe), .send(.subAck(answer))])
        try await ScriptedWorld.run([script]) { world in
            world.client.subscribe(("a", .one))
            await world.connect()
            #expect(world.errors(of: "subscribeFailure").map(\.reasonCode) == [.notAuthorized])
            let outcome = Box<Result<QoS, CourierError>>()
            // All calls are made in one job of the loop, so the old connection still exists when they are handled.
            world.loop.execute { [client = world.client] in
                client.disconnect()
                client.connect()
                client.subscribe("a", qos: .one) { outcome.value = $0 }
            }
            await world.run(for: .seconds(1))
            #expect(outcome.value?.success == .one)
            #expect(await Self.filters(world, on: 2) == [["a"]])
        }
    }

    @Test func `a loop over a refused filter throws an error`() async throws {
        let answer = SubAck(packetID: 1, reasonCodes: [.notAuthorized])
        let script = ConnectionScript.connection([.accept(), .serve(until: .subscribe), .send(.subAck(answer))])
        try await ScriptedWorld.run([script]) { world in
            var messages = world.client.messages(String.self, from: "secret").makeAsyncIterator()
            await world.connect()
            do {
                _ = try await messages.next()
                Issue.record("the loop goes on")
            } catch let error as CourierError {
                #expect(error.message.contains("secret"))
            }
        }
    }

    /// The rights of the credentials may have changed, or another server may have other rules.
    @Test func `a loop throws an error if its filter is refused on a later connection`() async throws {
        let first = ConnectionScript.connection([
            .accept(), .serve(until: .subscribe), .answer, .serve(until: .publish(to: "go")), .cut(.reset),
        ])
        let refusal = SubAck(packetID: 1, reasonCodes: [.notAuthorized])
        let second = ConnectionScript.connection([.accept(), .serve(until: .subscribe), .send(.subAck(refusal))])
        try await ScriptedWorld.run([first, second]) { world in
            var messages = world.client.messages(String.self, from: "secret").makeAsyncIterator()
            await world.connect()
            await world.until { world.events.contains("subscribeSuccess") }
            try world.client.publishMessage("", topic: "go", qos: .zero)
            await world.until { world.events.contains("connectionLost") }
            await world.run(for: .seconds(2))
            do {
                _ = try await messages.next()
                Issue.record("the loop goes on")
            } catch let error as CourierError {
                #expect(error.reasonCode == .notAuthorized && error.message.contains("secret"))
            }
        }
    }

    @Test func `a SUBSCRIBE without a SUBACK is sent again on the next connection`() async throws {
        let script = ConnectionScript.connection([.accept(), .serve(until: .subscribe), .stall])
        try await ScriptedWorld.run([script]) { world in
            await world.connect()
            let outcome = Box<Result<QoS, CourierError>>()
            world.client.subscribe("a", qos: .two) { outcome.value = $0 }
            await world.run(for: .milliseconds(59_999))
            #expect(outcome.value == nil)
            await world.run(for: .milliseconds(1))
            #expect(world.errors(of: "connectionLost").map(\.code) == [.timedOut])
            #expect(world.errors(of: "subscribeFailure").map(\.code) == [.connectionLost])
            await world.run(for: .seconds(1))
            #expect(outcome.value?.success == .two)
            #expect(await Self.filters(world, on: 2) == [["a"]])
        }
    }

    @Test func `a SUBACK with too few reason codes ends the connection, and SUBSCRIBE is sent again`() async throws {
        let script = ConnectionScript.connection([
            .accept(), .serve(until: .subscribe), .send(.subAck(SubAck(packetID: 1, reasonCodes: [.grantedQoS1]))),
        ])
        try await ScriptedWorld.run([script]) { world in
            world.client.subscribe(("a", .one), ("b", .one))
            await world.connect()
            #expect(world.events.contains("connectionLost"))
            await world.run(for: .seconds(1))
            #expect(await Self.filters(world, on: 2) == [["a", "b"]])
            #expect(world.events.count { $0 == "subscribeSuccess" } >= 1)
        }
    }

    @Test func `subscribe() with an invalid filter fails, and no SUBSCRIBE is sent`() async throws {
        try await ScriptedWorld.run { world in
            await world.connect()
            let outcome = Box<Result<QoS, CourierError>>()
            world.client.subscribe("a/#/b", qos: .one) { outcome.value = $0 }
            await world.settle()
            #expect(outcome.value?.failure?.code == .invalidTopicFilter)
            #expect(await world.broker.packets(.subscribe).isEmpty)
            #expect(world.events.contains("subscribeFailure"))
        }
    }

    @Test func `subscribe() fails and sends nothing if the broker does not support wildcard or shared filters`()
        async throws
    {
        // A broker may answer a SUBSCRIBE with such filters by DISCONNECT (MQTT 5.0 §3.2.2.3.11 and §3.2.2.3.13).
        let properties: PacketProperties = [.wildcardSubscriptionAvailable(false), .sharedSubscriptionAvailable(false)]
        let script = ConnectionScript.connection([.accept(properties: properties)])
        try await ScriptedWorld.run([script]) { world in
            let outcomes = ["a/+", "$share/g/b", "c"].map { filter in
                let outcome = Box<Result<QoS, CourierError>>()
                world.client.subscribe(filter, qos: .one) { outcome.value = $0 }
                return outcome
            }
            await world.connect()
            #expect(await Self.filters(world, on: 1) == [["c"]])
            #expect(outcomes[0].value?.failure?.reasonCode == .wildcardSubscriptionsNotSupported)
            #expect(outcomes[0].value?.failure?.message.contains("Do not use + and #") == true)
            #expect(outcomes[1].value?.failure?.reasonCode == .sharedSubscriptionsNotSupported)
            #expect(outcomes[2].value?.success == .one)
            let errors = world.errors(of: "subscribeFailure")
            #expect(errors.map(\.code) == [.subscriptionRefused, .subscriptionRefused])
            #expect(world.client.connectionState == .connected)
        }
    }

    /// [MQTT-3.2.2-15]
    @Test func `a filter larger than the broker's maximum packet size is reported as subscribeFailure`()
        async throws
    {
        let script = ConnectionScript.connection([.accept(properties: [.maximumPacketSize(30)])])
        try await ScriptedWorld.run([script]) { world in
            let long = String(repeating: "x", count: 30)
            world.client.subscribe((long, .one), ("b", .one))
            await world.connect()
            #expect(await Self.filters(world, on: 1) == [["b"]])
            let errors = world.errors(of: "subscribeFailure")
            #expect(errors.map(\.code) == [.subscriptionRefused])
            #expect(errors.first?.reasonCode == .packetTooLarge)
            #expect(errors.first?.message.contains(long) == true)
            #expect(world.client.connectionState == .connected)
        }
    }

    @Test func `destroy() ends a pending subscribe() with clientDestroyed`() async throws {
        let script = ConnectionScript.connection([.accept(), .serve(until: .subscribe), .stall])
        try await ScriptedWorld.run([script]) { world in
            await world.connect()
            let outcome = Box<Result<QoS, CourierError>>()
            world.client.subscribe("a", qos: .one) { outcome.value = $0 }
            await world.settle()
            world.client.destroy()
            await world.run(for: .seconds(6))
            #expect(outcome.value?.failure?.code == .clientDestroyed)
            await world.connect()
            #expect(await world.broker.packets(.subscribe, on: 2).isEmpty)
        }
    }
}
