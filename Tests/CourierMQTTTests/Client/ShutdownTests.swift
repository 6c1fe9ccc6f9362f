import CourierCore
import CourierTesting
import CourierTransport
import Foundation
import MQTTCodec
import Testing

@testable import CourierMQTT

/// `shutdown(subscriptions:)`: it ends loops and the connection, and decides which subscriptions the broker keeps.
@Suite(.timeLimit(.minutes(5))) struct ShutdownTests {
    private static func options(_ port: UInt16, isCleanSession: Bool = false) -> ConnectOptions {
        ConnectOptions(host: "127.0.0.1", port: port, clientId: "reader", isCleanSession: isCleanSession)
    }

    /// Reads "t/+", shuts down, and publishes a message while the reader is disconnected. Then connects the session's
    /// next client and publishes a later message. Returns the message that this client receives first.
    private static func firstMessage(
        after subscriptions: LoopSubscriptions?, _ store: (any MessageStore)? = nil
    ) async throws -> String? {
        let broker = try LoopbackBroker.start()
        let reader = try TestClient(options(broker.port)) { $0.messageStore = store }
        reader.client.connect()
        let texts = try await reader.client.messages(String.self, from: "t/+").subscribed()
        let other = try TestClient(.local(broker.port))
        other.client.connect()
        try await other.client.publish("read", to: "t/1")
        var seen: [String] = []
        for try await text in texts {
            seen.append(text)
            await reader.client.shutdown(subscriptions: subscriptions)  // Also from a loop's own body.
        }
        #expect(seen == ["read"])
        #expect(reader.client.connectionState == .disconnected)
        try await other.client.publish("away", to: "t/2")

        let next = try TestClient(options(broker.port)) { $0.messageStore = store }
        let later = next.client.messages(String.self, from: "+/+").makeAsyncIterator()
        next.client.connect()
        try await next.client.subscribe(to: "later/+")
        try await other.client.publish("later", to: "later/1")
        let first = try await Task { () -> String? in
            var iterator = later
            return try await iterator.next()
        }.value
        if subscriptions != .remove {
            #expect(!next.events.contains { if case .unsubscribeAttempt = $0 { true } else { false } })
        }
        try await next.end()
        try await other.end()
        try await reader.end()
        await broker.shutdown()
        return first
    }

    @Test(arguments: [nil, LoopSubscriptions.keep])
    func `after shutdown() of a client with a persistent session, the broker stores messages for the loops' filters`(
        subscriptions: LoopSubscriptions?
    ) async throws {
        #expect(try await Self.firstMessage(after: subscriptions) == "away")
    }

    @Test func `shutdown() with subscriptions = remove unsubscribes the filters that only loops use`() async throws {
        #expect(try await Self.firstMessage(after: .remove) == "later")
    }

    @Test func `shutdown() of a clean session unsubscribes the loops' filters by default`() async throws {
        let broker = try LoopbackBroker.start()
        let test = try TestClient(Self.options(broker.port, isCleanSession: true))
        test.client.connect()
        let texts = try await test.client.messages(String.self, from: "t").subscribed()
        await test.client.shutdown()
        try await test.wait(for: "unsubscribeSuccess")
        #expect(try await Self.rest(of: texts).isEmpty)
        try await test.end()
        await broker.shutdown()
    }

    @Test func `shutdown() with subscriptions = remove does not unsubscribe a filter that the app subscribed`()
        async throws
    {
        try await ScriptedWorld.run([.connection([.accept()])]) { world in
            await world.connect()
            try await world.client.subscribe(to: "t")
            let texts = try await world.client.messages(String.self, from: "t").subscribed()
            await Self.shutdown(world, .remove)
            #expect(await world.broker.packets(.unsubscribe, on: 1).isEmpty)
            #expect(try await Self.rest(of: texts).isEmpty)
        }
    }

    @Test func `shutdown() waits for the UNSUBACK of the broker, but at most 5 s`() async throws {
        let script = ConnectionScript.connection([.accept(), .fault(.drop(.unsubAck))])
        try await ScriptedWorld.run([script]) { world in
            await world.connect()
            let texts = try await world.client.messages(String.self, from: "t").subscribed()
            let isDone = Box<Bool>()
            let task = Task {
                await world.client.shutdown(subscriptions: .remove)
                isDone.value = true
            }
            try await world.broker.received(.unsubscribe, on: 1)
            await world.run(for: .seconds(4))
            #expect(isDone.value == nil)
            #expect(try await Self.rest(of: texts).isEmpty)
            await world.run(for: .seconds(2))
            await world.until { isDone.value == true }
            await task.value
        }
    }

    @Test(arguments: [LoopSubscriptions.keep, .remove])
    func `shutdown() without a connection ends all loops at once`(subscriptions: LoopSubscriptions) async throws {
        try await ScriptedWorld.run([.connection([.accept()])]) { world in
            let texts = world.client.messages(String.self, from: "t")
            let reading = Task { try await Self.rest(of: texts) }
            await world.until { world.client.waitingCount == 1 }
            await world.client.shutdown(subscriptions: subscriptions)
            let rest = try await reading.value
            #expect(rest.isEmpty)
        }
    }

    @Test func `subscribed() that waits for SUBACK throws sessionMissing after shutdown()`() async throws {
        try await ScriptedWorld.run([.connection([.accept(), .fault(.drop(.subAck))])]) { world in
            await world.connect()
            let task = Task { try await world.client.messages(String.self, from: "t").subscribed() }
            try await world.broker.received(.subscribe, on: 1)
            await Self.shutdown(world, .keep)
            let error = await #expect(throws: CourierError.self) { try await task.value }
            #expect(error?.code == .sessionMissing)
        }
    }

    @Test func `after shutdown(), a filter whose SUBACK is missing is not subscribed on the next connection`()
        async throws
    {
        let script: [ConnectionScript] = [
            .connection([.accept(), .fault(.drop(.subAck))]), .connection([.accept(isSessionPresent: true)]),
        ]
        try await ScriptedWorld.run(script) { world in
            await world.connect()
            let reader = world.client.messages(String.self, from: "t").makeAsyncIterator()
            try await world.broker.received(.subscribe, on: 1)
            await Self.shutdown(world, .keep)
            await world.connect()
            await world.settle()
            #expect(await world.broker.packets(.subscribe, on: 2).isEmpty)
            withExtendedLifetime(reader) {}
        }
    }

    @Test func `after shutdown(), a filter that the broker refused is not subscribed on the next connection`()
        async throws
    {
        let refusal = SubAck(packetID: 1, reasonCodes: [.notAuthorized])
        let script: [ConnectionScript] = [
            .connection([.accept(), .fault(.replace(.subAck, with: .subAck(refusal)))]),
            .connection([.accept(isSessionPresent: true)]),
        ]
        try await ScriptedWorld.run(script) { world in
            await world.connect()
            let reader = world.client.messages(String.self, from: "t").makeAsyncIterator()
            await world.until { world.events.contains("subscribeFailure") }
            await Self.shutdown(world, .keep)
            await world.connect()
            await world.settle()
            #expect(await world.broker.packets(.subscribe, on: 2).isEmpty)
            withExtendedLifetime(reader) {}
        }
    }

    @Test func `if shutdown() is called before the provider returns credentials, the filters of loops are removed`()
        async throws
    {
        let provider = ScriptedProvider(.local(1), [.silence])
        try await ScriptedWorld.run([], provider: provider) { world in
            let reader = world.client.messages(String.self, from: "t").makeAsyncIterator()
            world.client.connect()
            let isDone = Box<Bool>()
            Task {
                await world.client.shutdown()
                isDone.value = true
            }
            await world.until { isDone.value == true }
            let coordinator = world.client.parts.coordinator
            let count = await withCheckedContinuation { continuation in
                world.loop.execute { continuation.resume(returning: coordinator.subscriptions.filters.count) }
            }
            #expect(count == 0)
            withExtendedLifetime(reader) {}
        }
    }

    @Test func `after shutdown() with subscriptions = keep, the client can connect and read the same filter again`()
        async throws
    {
        try await ScriptedWorld.run([.connection([.accept()]), .connection([.accept(isSessionPresent: true)])]) {
            world in
            await world.connect()
            let first = try await world.client.messages(String.self, from: "t").subscribed()
            await Self.shutdown(world, .keep)
            #expect(try await Self.rest(of: first).isEmpty)
            await world.connect()
            _ = try await world.client.messages(String.self, from: "t").subscribed()
            #expect(await world.broker.packets(.unsubscribe, on: 2).isEmpty)
        }
    }

    /// Shuts the client down while the world's clock runs.
    private static func shutdown(_ world: ScriptedWorld, _ subscriptions: LoopSubscriptions) async {
        let isDone = Box<Bool>()
        Task {
            await world.client.shutdown(subscriptions: subscriptions)
            isDone.value = true
        }
        await world.until { isDone.value == true }
    }

    private static func rest(of texts: MessageSequence<String>) async throws -> [String] {
        var all: [String] = []
        for try await text in texts { all.append(text) }
        return all
    }
}
