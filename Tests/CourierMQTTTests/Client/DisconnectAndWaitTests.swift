import CourierCore
import CourierTesting
import Foundation
import TestSupport
import Testing

@testable import CourierMQTT

@Suite(.timeLimit(.minutes(5))) struct DisconnectAndWaitTests {
    @Test func `disconnectAndWait() returns to all callers after the connection has ended`() async throws {
        let broker = try LoopbackBroker.start()
        let test = try TestClient(.local(broker.port))
        for _ in 0..<10 {
            try await test.connect()
            await withTaskGroup { group in
                for _ in 0..<8 {
                    group.addTask { [client = test.client] in
                        await client.disconnectAndWait()
                        #expect(client.connectionState == .disconnected)
                    }
                }
            }
        }
        try await test.wait(for: "connectionDisconnect", count: 10)
        #expect(!test.eventNames.contains("connectionLost"))
        await broker.shutdown()
    }

    @Test func `disconnectAndWait() returns at once without a connection`() async throws {
        let broker = try LoopbackBroker.start()
        let test = try TestClient(.local(broker.port))
        await test.client.disconnectAndWait()
        #expect(test.events.isEmpty, "there was nothing to end")
        try await test.connect()
        await test.client.disconnectAndWait()
        await test.client.disconnectAndWait()
        test.client.destroy()
        await test.client.disconnectAndWait()
        try await test.connect()
        try await test.end()

        var unusable = MQTTClientConfig(options: .local(broker.port))
        unusable.autoReconnectInterval = 0
        unusable.deliveryQueue = test.queue
        await CourierClientFactory().makeMQTTClient(config: unusable).disconnectAndWait()
        await broker.shutdown()
    }

    @MainActor
    @Test func `disconnectAndWait() on the main actor does not block the main queue`() async throws {
        let broker = try LoopbackBroker.start()
        var config = MQTTClientConfig(options: .local(broker.port))
        config.environment.networkMonitor = AlwaysAvailableNetwork()
        #expect(config.deliveryQueue.label == DispatchQueue.main.label)
        let client = CourierClientFactory().makeMQTTClient(config: config)
        client.connect()
        try await client.connected()
        await client.disconnectAndWait()
        MainActor.assertIsolated()
        #expect(client.connectionState == .disconnected)
        await broker.shutdown()
    }

    @Test func `disconnectAndWait() returns after 2 s if the broker does not read, even if the task is cancelled`()
        async throws
    {
        let script = ConnectionScript.connection([.accept(), .stopReading, .pause(.seconds(20)), .resumeReading])
        try await ScriptedWorld.run([script], isScriptChecked: false) { world in
            await world.connect()
            // More bytes than fit into the buffers between client and broker.
            try world.client.publish(bytes: Array(repeating: 0, count: 1 << 20), to: "t", qos: .one)
            await world.settle()
            let begin = world.clock.now
            let end = Box<ContinuousClock.Instant>()
            let waiting = Task { [client = world.client, clock = world.clock] in
                await client.disconnectAndWait()
                end.value = clock.now
            }
            await world.until { world.client.connectionState == .disconnected }
            waiting.cancel()
            await world.run(for: .milliseconds(1_999))
            #expect(end.value == nil)
            await world.run(for: .milliseconds(1))
            await waiting.value
            #expect(end.value.map { begin.duration(to: $0) } == .seconds(2))
        }
    }

    @Test func `disconnectAndWait() returns even if connect() is called before the connection ends`() async throws {
        try await ScriptedWorld.run { world in
            await world.connect()
            let waiting = Task { [client = world.client] in
                await client.disconnectAndWait()
            }
            await world.until { world.events.contains("courierDisconnect") }
            await world.connect()
            await waiting.value
            await world.until { world.client.connectionState == .connected }
            #expect(await world.broker.connections.count == 2)
        }
    }
}
