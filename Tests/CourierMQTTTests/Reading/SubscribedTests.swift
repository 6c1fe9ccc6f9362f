import CourierCore
import CourierTesting
import Foundation
import MQTTCodec
import Testing

@testable import CourierMQTT

/// The time when `subscribed()` of a message sequence returns, and its errors.
@Suite(.timeLimit(.minutes(5))) struct SubscribedTests {
    private typealias Outcome = Box<Result<MessageSequence<String>, any Error>>

    /// Calls `subscribed()` in a separate task, and returns when the call waits.
    private static func begin(_ world: ScriptedWorld) async -> (task: Task<Void, Never>, outcome: Outcome) {
        let outcome = Outcome()
        let task = Task {
            do {
                outcome.value = .success(try await world.client.messages(String.self, from: "t").subscribed())
            } catch {
                outcome.value = .failure(error)
            }
        }
        await world.until { world.client.waitingCount == 1 || outcome.value != nil }
        return (task, outcome)
    }

    @Test func `a message that is published after subscribed() returns is received`() async throws {
        let broker = try LoopbackBroker.start()
        let test = try TestClient(.local(broker.port))
        test.client.connect()
        for number in 1...20 {
            let texts = try await test.client.messages(String.self, from: "t/\(number)").subscribed()
            try await test.client.publish("\(number)", to: "t/\(number)", qos: .zero)
            for try await text in texts {
                #expect(text == "\(number)")
                break
            }
        }
        try await test.end()
        await broker.shutdown()
    }

    @Test func `subscribed() returns only after the broker granted the filter`() async throws {
        let gate = ScriptGate()
        try await ScriptedWorld.run([.connection([.accept(), .fault(.hold(.subAck, until: gate))])]) { world in
            await world.connect()
            let (_, outcome) = await Self.begin(world)
            await world.settle()
            #expect(outcome.value == nil)
            gate.release()
            await world.until { outcome.value != nil }
            #expect(outcome.value?.success != nil)
        }
    }

    @Test func `subscribed() waits for the next connection if the first one is lost before SUBACK`() async throws {
        let script: [ConnectionScript] = [.connection([.accept(), .serve(until: .subscribe), .cut(.orderly)])]
        try await ScriptedWorld.run(script) { world in
            await world.connect()
            let (_, outcome) = await Self.begin(world)
            await world.settle()
            #expect(outcome.value == nil)
            await world.run(for: .seconds(2))
            #expect(outcome.value?.success != nil)
            #expect(await ScriptedSubscriptionTests.filters(world, on: 2) == [["t"]])
        }
    }

    @Test func `messages that the broker sends right after CONNACK reach a subscribed() sequence`() async throws {
        let script = ConnectionScript.connection([
            .accept(isSessionPresent: true), ScriptedReadingTests.message(1, "kept"),
        ])
        let provider = ScriptedProvider(StoreScopeTests.options(), [.silence])
        try await ScriptedWorld.run([script], provider: provider) { world in
            world.client.connect()
            let (_, outcome) = await Self.begin(world)
            await world.until { world.provider.keptCount == 1 }
            world.provider.completeKept()
            await world.until { outcome.value != nil }
            var texts = try #require(try outcome.value?.get()).makeAsyncIterator()
            #expect(try await texts.next() == "kept")
        }
    }

    @Test func `disconnect() before SUBACK makes subscribed() throw sessionMissing, and the next call succeeds`()
        async throws
    {
        let script = ConnectionScript.connection([.accept(), .fault(.drop(.subAck))])
        try await ScriptedWorld.run([script, .connection([.accept()])]) { world in
            await world.connect()
            let (_, outcome) = await Self.begin(world)
            try await world.broker.received(.subscribe, on: 1)
            world.client.disconnect()
            await world.until { outcome.value != nil }
            let error = #expect(throws: CourierError.self) { try outcome.value?.get() }
            #expect(error?.code == .sessionMissing)
            await world.connect()
            let (_, second) = await Self.begin(world)
            await world.until { second.value != nil }
            #expect(second.value?.success != nil)
        }
    }

    @Test func `subscribed() throws notAuthorized if the client stops reconnecting before SUBACK`() async throws {
        let script: [ConnectionScript] = [
            .connection([.accept(), .serve(until: .subscribe), .cut(.reset)]),
            .connection([.refuse(.notAuthorized)]), .connection([.refuse(.notAuthorized)]),
        ]
        let change: (inout MQTTClientConfig) -> Void = { $0.reconnect.whenRefused = .stop }
        try await ScriptedWorld.run(script, change) { world in
            await world.connect()
            let (_, outcome) = await Self.begin(world)
            await world.run(for: .seconds(20))
            let error = #expect(throws: CourierError.self) { try outcome.value?.get() }
            #expect(error?.code == .notAuthorized)
        }
    }

    @Test func `a loop without subscribed() continues after disconnect() and another connect()`() async throws {
        let script: [ConnectionScript] = [
            .connection([.accept(), .fault(.drop(.subAck))]),
            .connection([
                .accept(), .serve(until: .subscribe), .answer, ScriptedReadingTests.message(1, "later"),
            ]),
        ]
        try await ScriptedWorld.run(script) { world in
            await world.connect()
            let texts = world.client.messages(String.self, from: "t")
            let reading = Task { () -> String? in
                for try await text in texts { return text }
                return nil
            }
            try await world.broker.received(.subscribe, on: 1)
            world.client.disconnect()
            await world.until { world.client.connectionState == .disconnected }
            await world.connect()
            let text = try await reading.value
            #expect(text == "later")
        }
    }

    @Test func `subscribed() throws if the broker refuses the filter`() async throws {
        var rules = BrokerConfiguration()
        rules.access = .init(rules: [.init(.deny, .subscribe, "t")], otherwise: .allow)
        let broker = try LoopbackBroker.start(configuration: rules)
        let test = try TestClient(.local(broker.port))
        try await test.connect()
        let error = await #expect(throws: CourierError.self) {
            try await test.client.messages(String.self, from: "t").subscribed()
        }
        #expect(error?.code == .notAuthorized || error?.code == .subscriptionRefused, "\(String(describing: error))")
        try await test.end()
        await broker.shutdown()
    }

    @Test func `subscribed() throws invalidTopicFilter if the filter is invalid`() async throws {
        try await ScriptedWorld.run { world in
            await world.connect()
            let error = await #expect(throws: CourierError.self) {
                try await world.client.messages(String.self, from: "a/#/b").subscribed()
            }
            #expect(error?.code == .invalidTopicFilter)
        }
    }

    @Test func `subscribed() throws at once if connect() was not called`() async throws {
        let test = try TestClient(.local(1))
        await #expect(throws: CourierError.self) {
            try await test.client.messages(String.self, from: "t").subscribed()
        }
    }

    @Test func `subscribed() of a misconfigured client throws invalidConfiguration`() async {
        var config = MQTTClientConfig(options: .local(1))
        config.logHandler = nil
        config.offline.maximumCount = 0
        let client = CourierClientFactory().makeMQTTClient(config: config)
        #expect(client is MisconfiguredClient)
        let error = await #expect(throws: CourierError.self) {
            try await client.messages(String.self, from: "t").subscribed()
        }
        #expect(error?.code == .invalidConfiguration)
    }

    @Test func `cancellation of subscribed() unsubscribes the filter`() async throws {
        let gate = ScriptGate()
        try await ScriptedWorld.run([.connection([.accept(), .fault(.hold(.subAck, until: gate))])]) { world in
            await world.connect()
            let (task, outcome) = await Self.begin(world)
            task.cancel()
            await world.until { outcome.value != nil }
            #expect(throws: CancellationError.self) { try outcome.value?.get() }
            gate.release()
            await world.until { await !world.broker.packets(.unsubscribe).isEmpty }
        }
    }

    @Test func `destroy() makes subscribed() throw clientDestroyed`() async throws {
        let gate = ScriptGate()
        try await ScriptedWorld.run([.connection([.accept(), .fault(.hold(.subAck, until: gate))])]) { world in
            await world.connect()
            let (_, outcome) = await Self.begin(world)
            world.client.destroy()
            await world.until { outcome.value != nil }
            let error = #expect(throws: CourierError.self) { try outcome.value?.get() }
            #expect(error?.code == .clientDestroyed)
        }
    }

    @Test func `a subscribed() sequence that is released without a loop is unsubscribed`() async throws {
        try await ScriptedWorld.run { world in
            await world.connect()
            let (_, outcome) = await Self.begin(world)
            await world.until { outcome.value != nil }
            #expect(await world.broker.packets(.unsubscribe).isEmpty)
            outcome.value = nil
            await world.until { await !world.broker.packets(.unsubscribe).isEmpty }
        }
    }
}
