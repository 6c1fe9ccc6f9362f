import CourierCore
import CourierTesting
import CourierTransport
import MQTTCodec
import Testing

@testable import CourierMQTT

/// Subscriptions over connections that come and go.
@Suite(.timeLimit(.minutes(5))) struct ScriptedSubscriptionTests {
    static func filters(_ world: ScriptedWorld, on connection: Int) async -> [[String]] {
        await world.broker.packets(.subscribe, on: connection)
            .compactMap { $0.packet.subscribe?.subscriptions.map(\.filter).sorted() }
    }

    private static func ended(_ world: ScriptedWorld, on connection: Int) async -> [[String]] {
        await world.broker.packets(.unsubscribe, on: connection).compactMap { $0.packet.unsubscribe?.filters.sorted() }
    }

    @Test func `a call that is cancelled while it waits for the broker is forgotten, and its subscription is not`()
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

    /// Subscribes to a and b, loses the connection, and changes its mind before the next one.
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

    @Test func `with a session only what differs is sent`() async throws {
        try await Self.change(isSessionPresent: true) { world in
            #expect(await Self.filters(world, on: 2) == [["c"]])
            #expect(await Self.ended(world, on: 2) == [["a"]])
        }
    }

    @Test func `without a session everything is sent, in one packet`() async throws {
        try await Self.change(isSessionPresent: false) { world in
            #expect(await Self.filters(world, on: 2) == [["b", "c"]])
        }
    }

    @Test func `topics of the configuration are subscribed to with each connection without a session`() async throws {
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

    @Test func `a session that the broker has and this client does not know changes nothing`() async throws {
        try await ScriptedWorld.run([.connection([.accept(isSessionPresent: true)])]) {
            $0.topics = ["a": .one]
        } _: {
            world in
            await world.connect()
            #expect(await Self.filters(world, on: 1) == [["a"]])
            #expect(world.client.connectionState == .connected)
        }
    }

    @Test func `an unsubscription that was not answered is asked for again with the session`() async throws {
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

    @Test func `an unsubscription that the lost session has answered needs no packet`() async throws {
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
    func `a refused filter fails alone`(_ version: ProtocolVersionPolicy) async throws {
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

    @Test func `a refusal is for its connection: a call behind disconnect() and connect() waits for the next one`()
        async throws
    {
        let answer = SubAck(packetID: 1, reasonCodes: [.notAuthorized])
        let script = ConnectionScript.connection([.accept(), .serve(until: .subscribe), .send(.subAck(answer))])
        try await ScriptedWorld.run([script]) { world in
            world.client.subscribe(("a", .one))
            await world.connect()
            #expect(world.errors(of: "subscribeFailure").map(\.reasonCode) == [.notAuthorized])
            let outcome = Box<Result<QoS, CourierError>>()
            // As one step of the loop, so that the old connection is still there when the call is heard.
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

    @Test func `a loop over a refused filter ends by the error`() async throws {
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

    /// Credentials may be worth less by then, or another server have other rules.
    @Test func `a loop whose filter is refused on a later connection ends by the error`() async throws {
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

    @Test func `a subscription whose answer never comes is tried again with the next connection`() async throws {
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

    @Test func `a SUBACK with too few codes is a broken protocol`() async throws {
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

    @Test func `an illegal filter fails on this side, without a packet`() async throws {
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

    @Test func `filters that the broker does not have fail by themselves, and not with the connection`() async throws {
        // A broker may answer such a SUBSCRIBE by DISCONNECT (MQTT 5.0 §3.2.2.3.11 and §3.2.2.3.13).
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

    @Test func `[MQTT-3.2.2-15] a filter that is larger than the broker's packets is told, also when nobody waits`()
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

    @Test func `destroy() with a SUBSCRIBE under way ends the attempt and the wait`() async throws {
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
