import CourierCore
import CourierTesting
import MQTTCodec
import Testing

@testable import CourierMQTT

/// Two clients with the same client id, which take over each other's session.
extension ScriptedReasonTests {
    @Test func `after a takeover, connected() throws and the reconnect delays grow from 60 s to 600 s`() async throws {
        try await ScriptedWorld.run(afterwards: [.accept(), .disconnect(.sessionTakenOver)]) { world in
            await world.connect()
            #expect(await world.connectedAnswer()?.failure?.code == .sessionTakenOver)
            await world.run(for: .seconds(2_100))
            #expect(await world.gaps == .seconds(60, 120, 240, 480, 600, 600))
        }
    }

    @Test func `connected() returns after a short connection, and a later call throws sessionTakenOver`()
        async throws
    {
        let script = ConnectionScript.connection([.accept(), .disconnect(.sessionTakenOver)])
        try await ScriptedWorld.run([.connection([.refuse(.serverBusy)]), script]) { world in
            await world.connect()
            let waiting = Task { [client = world.client] in
                try await client.connected()
            }
            await world.until { world.client.waitingCount == 1 }
            await world.run(for: .seconds(1))
            try await waiting.value  // The client was connected for a moment.
            #expect(await world.connectedAnswer()?.failure?.code == .sessionTakenOver)
            world.client.connect()
            await world.settle()
            #expect(world.client.connectionState == .connected)
        }
    }

    @Test func `after a takeover, connect() ends the reconnect delay, but a returning network does not`() async throws {
        let network = SwitchedNetwork()
        let script = ConnectionScript.connection([.accept(), .disconnect(.sessionTakenOver)])
        try await ScriptedWorld.run([script], over: .tcp(host: "0.0.0.0")) {
            $0.environment.networkMonitor = network
        } _: { world in
            await world.connect()
            try await world.broker.endOfConnection(1)
            await world.run(for: .seconds(10))
            network.become(.unavailable)
            await world.settle()
            network.become(.available)
            await world.run(for: .seconds(10))
            #expect(await world.broker.connections.count == 1)
            await world.connect()
            try await world.broker.connection(2)
            #expect(await world.connectTimes == .seconds(0, 20))
        }
    }

    @Test func `in MQTT 3.1.1, three connection losses right after CONNACK are reported as a takeover`() async throws {
        try await ScriptedWorld.run(afterwards: [.accept(), .cut(.orderly)]) {
            $0.protocolVersion = .version311
        } _: {
            world in
            await world.connect()
            await world.run(for: .seconds(3))
            let error = await world.connectedAnswer()?.failure
            #expect(error?.code == .sessionTakenOver)
            #expect(error?.message.contains("scripted") == true)
            await world.run(for: .seconds(200))
            #expect(await Array(world.gaps.prefix(4)) == .seconds(1, 2, 60, 120))
        }
    }

    @Test func `in MQTT 3.1.1, six connection losses 6 s after CONNACK are reported as a takeover`() async throws {
        try await ScriptedWorld.run(afterwards: [.accept(), .pause(.seconds(6)), .cut(.orderly)]) {
            $0.protocolVersion = .version311
        } _: { world in
            await world.connect()
            await world.run(for: .seconds(68))
            #expect(await world.connectedAnswer()?.failure?.code == .sessionTakenOver)
            await world.run(for: .seconds(200))
            #expect(await Array(world.gaps.prefix(7)) == .seconds(7, 8, 10, 14, 22, 66, 126))
        }
    }

    @Test func `in MQTT 3.1.1, connection losses 16 s after CONNACK do not count as a takeover`() async throws {
        try await ScriptedWorld.run(afterwards: [.accept(), .pause(.seconds(16)), .cut(.orderly)]) {
            $0.protocolVersion = .version311
        } _: { world in
            await world.connect()
            await world.run(for: .seconds(200))
            #expect(await Array(world.gaps.prefix(10)) == Array(repeating: .seconds(17), count: 10))
        }
    }
}
