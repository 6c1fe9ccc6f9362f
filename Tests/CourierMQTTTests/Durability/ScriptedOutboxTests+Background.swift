import CourierCore
import CourierTesting
import Testing

@testable import CourierMQTT

/// A client in the background and in the foreground. Its topics are in the store.
extension ScriptedOutboxTests {
    @Test func `the client reconnects in the foreground if an earlier process stored a subscription`() async throws {
        let phases = AppPhaseController()
        try await Self.run {
            $0.environment.lifecycle = phases
        } _: { world, store in
            try await store.memory.fill(
                [.want(StoredSubscription(try TopicFilter("kept"), .subscribed(.two)))], world.scope)
            await world.connect()
            await world.until { world.client.connectionState == .connected }
            phases.enterBackground()
            await world.run(for: .seconds(10))
            #expect(world.client.connectionState == .disconnected)
            phases.enterForeground()
            await world.until { world.client.connectionState == .connected }
            #expect(await world.broker.connections.count == 2)
        }
    }

    @Test func `the client does not reconnect in the foreground if the store has no subscription`() async throws {
        let phases = AppPhaseController()
        try await Self.run {
            $0.environment.lifecycle = phases
        } _: { world, _ in
            await world.connect()
            await world.until { world.client.connectionState == .connected }
            phases.enterBackground()
            await world.run(for: .seconds(10))
            phases.enterForeground()
            await world.run(for: .seconds(100))
            #expect(await world.broker.connections.count == 1)
        }
    }

    @Test func `if the app enters the background during a store read, the client connects in the foreground`()
        async throws
    {
        let phases = AppPhaseController()
        try await Self.run {
            $0.environment.lifecycle = phases
        } _: { world, store in
            try await store.memory.fill(
                [.want(StoredSubscription(try TopicFilter("kept"), .subscribed(.two)))], world.scope)
            store.holdReads()
            await world.connect()
            await world.until { store.heldReadCount == 1 }
            phases.enterBackground()
            await world.settle()
            store.letReadsPass()
            store.releaseRead()
            await world.until { world.events.contains("connectionFailure") }
            phases.enterForeground()
            await world.until { world.client.connectionState == .connected }
            await world.until { await world.broker.packets(.subscribe).count == 1 }
        }
    }
}
