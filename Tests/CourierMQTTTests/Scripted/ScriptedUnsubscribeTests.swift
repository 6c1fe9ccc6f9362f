import CourierCore
import CourierTesting
import MQTTCodec
import TestSupport
import Testing

@testable import CourierMQTT

/// `unsubscribe` for filters that this client never subscribed to: an earlier process may have left them in the session.
@Suite(.timeLimit(.minutes(5))) struct ScriptedUnsubscribeTests {
    /// The forms of `unsubscribe`.
    enum Form: CaseIterable, Sendable {
        case async, completion, published
    }

    private static let present = ScriptStep.accept(isSessionPresent: true)

    private static func ended(_ world: ScriptedWorld, on connection: Int? = nil) async -> [[String]] {
        await world.broker.packets(.unsubscribe, on: connection).compactMap { $0.packet.unsubscribe?.filters.sorted() }
    }

    /// Unsubscribes, and stores the result in the returned box. The form without a completion succeeds at once.
    private static func unsubscribe(
        _ filter: String, _ world: ScriptedWorld, by form: Form = .completion
    ) -> Box<Result<Void, CourierError>> {
        let outcome = Box<Result<Void, CourierError>>()
        switch form {
        case .async:
            Task { [client = world.client] in
                do {
                    try await client.unsubscribe(from: filter)
                    outcome.value = .success(())
                } catch let error as CourierError {
                    outcome.value = .failure(error)
                }
            }
        case .completion: world.client.unsubscribe(filter) { outcome.value = $0 }
        case .published:
            world.client.unsubscribe(filter)
            outcome.value = .success(())
        }
        return outcome
    }

    @Test(arguments: Form.allCases, [ProtocolVersionPolicy.version5, .version311])
    func `unsubscribe() sends UNSUBSCRIBE for a filter that an earlier process subscribed`(
        _ form: Form, _ version: ProtocolVersionPolicy
    ) async throws {
        try await ScriptedWorld.run([.connection([Self.present])]) {
            $0.protocolVersion = version
        } _: { world in
            await world.connect()
            let outcome = Self.unsubscribe("left", world, by: form)
            await world.until { outcome.value != nil }
            #expect(outcome.value?.success != nil)
            await world.until { world.events.contains("unsubscribeSuccess") }
            #expect(await Self.ended(world) == [["left"]])
        }
    }

    @Test func `unsubscribe() succeeds if the broker reports that no subscription existed`() async throws {
        let answer = UnsubAck(packetID: 1, reasonCodes: [.noSubscriptionExisted])
        let script = ConnectionScript.connection([Self.present, .expect(.unsubscribe), .send(.unsubAck(answer))])
        try await ScriptedWorld.run([script]) { world in
            await world.connect()
            let outcome = Self.unsubscribe("left", world)
            await world.until { outcome.value != nil }
            #expect(outcome.value?.success != nil)
            #expect(world.events.contains("unsubscribeSuccess"))
        }
    }

    @Test func `a refused unsubscribe() throws, and the next connection sends UNSUBSCRIBE again`() async throws {
        let answer = UnsubAck(packetID: 1, reasonCodes: [.notAuthorized])
        let first = ConnectionScript.connection([
            Self.present, .expect(.unsubscribe), .send(.unsubAck(answer)), .serve(until: .publish(to: "cut")),
            .cut(.orderly),
        ])
        try await ScriptedWorld.run([first, .connection([Self.present])]) { world in
            await world.connect()
            let outcome = Self.unsubscribe("left", world, by: .async)
            await world.until { outcome.value != nil }
            #expect(outcome.value?.failure?.reasonCode == .notAuthorized)
            #expect(outcome.value?.failure?.message.contains("\"left\"") == true)
            #expect(world.errors(of: "unsubscribeFailure").map(\.reasonCode) == [.notAuthorized])
            try world.publish("", to: "cut", qos: .zero)
            await world.run(for: .seconds(1))
            #expect(await Self.ended(world, on: 2) == [["left"]])
        }
    }

    @Test(arguments: Form.allCases)
    func `after unsubscribe() without a connection, UNSUBSCRIBE is sent if CONNACK reports a session`(_ form: Form)
        async throws
    {
        try await ScriptedWorld.run([.connection([Self.present])]) { world in
            let outcome = Self.unsubscribe("left", world, by: form)
            if form == .async { await world.until { world.client.waitingCount > 0 } }
            await world.connect()
            await world.until { outcome.value != nil }
            #expect(outcome.value?.success != nil)
            await world.until { await Self.ended(world) == [["left"]] }
        }
    }

    @Test func `if unsubscribe() is called before CONNACK, UNSUBSCRIBE is sent after a CONNACK with session present`()
        async throws
    {
        let gate = ScriptGate()
        let script = ConnectionScript.connection([
            .expect(.connect), .hold(gate), .send(.connAck(ConnAck(isSessionPresent: true))),
        ])
        try await ScriptedWorld.run([script]) { world in
            await world.connect()
            let outcome = Self.unsubscribe("left", world)
            await world.settle()
            #expect(outcome.value == nil)
            gate.release()
            await world.until { outcome.value != nil }
            #expect(await Self.ended(world) == [["left"]])
        }
    }

    @Test func `unsubscribe() without a connection succeeds without a packet if the broker has no session`()
        async throws
    {
        try await ScriptedWorld.run { world in
            let outcome = Self.unsubscribe("left", world)
            await world.settle()
            #expect(outcome.value == nil)
            await world.connect()
            #expect(outcome.value?.success != nil)
            #expect(await Self.ended(world).isEmpty)
        }
    }

    @Test func `unsubscribe() sends no packet for a filter that the client never subscribed to`() async throws {
        let script: [ConnectionScript] = [
            .connection([.accept(), .serve(until: .publish(to: "cut")), .cut(.orderly)]),
            .connection([Self.present]),
        ]
        try await ScriptedWorld.run(script) { world in
            await world.connect()
            let first = Self.unsubscribe("never", world)
            await world.until { first.value != nil }
            try world.publish("", to: "cut", qos: .zero)
            await world.run(for: .seconds(1))
            let second = Self.unsubscribe("never", world)
            await world.until { second.value != nil }
            #expect(first.value?.success != nil && second.value?.success != nil)
            #expect(await Self.ended(world).isEmpty)
        }
    }

    /// The client that took the session over may have subscribed to the filter.
    @Test func `after a takeover, unsubscribe() sends UNSUBSCRIBE even for a filter that the client does not know`()
        async throws
    {
        let script: [ConnectionScript] = [
            .connection([
                .accept(), .serve(until: .publish(to: "go")),
                .send(.disconnect(Disconnect(reasonCode: .sessionTakenOver))), .cut(.orderly),
            ]),
            .connection([Self.present]),
        ]
        try await ScriptedWorld.run(script) { world in
            await world.connect()
            try world.publish("", to: "go", qos: .zero)
            await world.until { world.client.connectionState == .disconnected }
            await world.connect()
            await world.until { world.client.connectionState == .connected }
            let outcome = Self.unsubscribe("theirs", world)
            await world.until { outcome.value != nil }
            #expect(await Self.ended(world, on: 2) == [["theirs"]])
        }
    }

    @Test func `subscribe() followed by unsubscribe() before the first connection sends only UNSUBSCRIBE`()
        async throws
    {
        try await ScriptedWorld.run([.connection([Self.present])]) { world in
            world.client.subscribe(("a", .one))
            world.client.unsubscribe("a")
            await world.connect()
            await world.until { await Self.ended(world) == [["a"]] }
            #expect(await world.broker.packets(.subscribe).isEmpty)
        }
    }

    @Test func `unsubscribe() of a filter that a loop still reads succeeds without UNSUBSCRIBE`() async throws {
        try await ScriptedWorld.run([.connection([Self.present])]) { world in
            let messages = world.client.messages(String.self, from: "read").makeAsyncIterator()
            await world.connect()
            await world.until { world.events.contains("subscribeSuccess") }
            let outcome = Self.unsubscribe("read", world)
            await world.until { outcome.value != nil }
            #expect(outcome.value?.success != nil)
            #expect(await Self.ended(world).isEmpty)
            withExtendedLifetime(messages) {}
        }
    }

    @Test func `with a store, unsubscribe() without a connection is stored and sent after the reconnect`() async throws
    {
        let store = ControlledStore()
        try await ScriptedWorld.run([.connection([.refuse(.serverUnavailable)]), .connection([Self.present])]) {
            $0.messageStore = store
        } _: { world in
            await world.connect()
            await world.until { world.events.contains("connectionFailure") }
            let outcome = Self.unsubscribe("left", world)
            let row = StoredSubscription(try TopicFilter("left"), .unsubscribing)
            await world.until { await store.memory.subscriptions(in: world.scope) == [row] }
            #expect(outcome.value == nil)
            await world.run(for: .seconds(1))
            await world.until { outcome.value?.success != nil }
            #expect(await Self.ended(world) == [["left"]])
            await world.until { await store.memory.subscriptions(in: world.scope).isEmpty }
        }
    }

    @Test(arguments: [ProtocolVersionPolicy.version5, .version311])
    func `mosquitto sends no more messages after unsubscribe() of an earlier client's filter`(
        _ version: ProtocolVersionPolicy
    ) async throws {
        let broker = try await RealBroker()
        func client() throws -> TestClient {
            try TestClient(.local(broker.port, id: "meter", clean: false)) { $0.protocolVersion = version }
        }
        let earlier = try client()
        try await earlier.connect()
        _ = try await earlier.client.subscribe(to: "left", qos: .one)
        try await earlier.end()

        let later = try client()
        let (texts, arrivals) = AsyncStream.makeStream(of: String.self)
        let sink = later.client.messagePublisher().sink { arrivals.yield($0.payloadString ?? "?") }
        var received = texts.makeAsyncIterator()
        try await later.connect()
        try await later.client.publish("before", to: "left", qos: .one)
        #expect(await received.next() == "before")
        try await later.client.unsubscribe(from: "left")
        try await later.client.publish("after", to: "left", qos: .one)
        _ = try await later.client.subscribe(to: "end", qos: .one)
        try await later.client.publish("end", to: "end", qos: .one)
        #expect(await received.next() == "end")
        sink.cancel()
        try await later.end()
        await broker.stop()
    }
}
