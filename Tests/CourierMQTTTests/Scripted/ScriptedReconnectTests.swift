import CourierCore
import CourierTesting
import CourierTransport
import MQTTCodec
import Testing

@testable import CourierMQTT

/// The times of the client's reconnects, measured by the virtual clock.
@Suite(.timeLimit(.minutes(5))) struct ScriptedReconnectTests {
    @Test func `without jitter, refused attempts are repeated after exactly 1, 2, 4, 8, 16, 30 and 30 s`() async throws
    {
        try await ScriptedWorld.run(afterwards: [.refuse(.serverUnavailable)]) { world in
            await world.connect()
            await world.run(for: .seconds(151))
            #expect(await world.gaps == .seconds(1, 2, 4, 8, 16, 30, 30, 30, 30))
            // The broker did not refuse the credentials, so the provider is not asked again.
            #expect(world.provider.asked == [.zero])
        }
    }

    @Test func `if each connection is lost at once, the reconnect delays are 1, 2, 4, 8, 16, 30 and 30 s`()
        async throws
    {
        try await ScriptedWorld.run(afterwards: [.accept(), .cut(.reset)]) { world in
            await world.connect()
            await world.run(for: .seconds(91))
            #expect(await world.gaps == .seconds(1, 2, 4, 8, 16, 30, 30))
            #expect(world.events.count { $0 == "reconnect" } == 7)
        }
    }

    @Test func `only a connection that lasts 10 s resets the reconnect delays`() async throws {
        let script: [ConnectionScript] = [
            .connection([.refuse(.serverUnavailable)]), .connection([.refuse(.serverUnavailable)]),
            .connection([.accept(), .pause(.milliseconds(9_999)), .cut(.orderly)]),
            .connection([.accept(), .pause(.seconds(10)), .cut(.orderly)]),
        ]
        try await ScriptedWorld.run(script) { world in
            await world.connect()
            await world.run(for: .seconds(60))
            #expect(await world.gaps == [.seconds(1), .seconds(2), .milliseconds(13_999), .seconds(11)])
            #expect(world.client.connectionState == .connected)
        }
    }

    @Test func `a connection that lasts stableConnectionTime resets the reconnect delays`() async throws {
        let script: [ConnectionScript] = [
            .connection([.refuse(.serverUnavailable)]), .connection([.refuse(.serverUnavailable)]),
            .connection([.accept(), .pause(.seconds(2)), .cut(.orderly)]),
        ]
        try await ScriptedWorld.run(script) {
            $0.reconnect.stableConnectionTime = .seconds(2)
        } _: { world in
            await world.connect()
            await world.run(for: .seconds(20))
            #expect(await world.gaps == .seconds(1, 2, 3))
        }
    }

    @Test(arguments: [ReconnectJitter.equal, .full])
    func `with jitter, the reconnect delays are random within the range of the jitter mode`(_ jitter: ReconnectJitter)
        async throws
    {
        try await ScriptedWorld.run(afterwards: [.refuse(.serverUnavailable)]) {
            $0.reconnect.jitter = jitter
        } _: {
            world in
            await world.connect()
            await world.run(for: .seconds(600))
            let gaps = await world.gaps
            #expect(gaps.count >= 19)
            let pauses = [1, 2, 4, 8, 16] + Array(repeating: 30, count: max(0, gaps.count - 5))
            for (gap, pause) in zip(gaps, pauses) {
                let least = jitter == .equal ? Duration.seconds(pause) / 2 : .zero
                #expect((least...Duration.seconds(pause)).contains(gap))
            }
            #expect(Set(gaps.dropFirst(5)).count > 1, "no chance in it")
        }
    }

    @Test func `connect() ends the reconnect delay at once, but attempts are at least 5 s apart`() async throws {
        try await ScriptedWorld.run(afterwards: [.refuse(.serverUnavailable)]) { world in
            await world.connect()
            await world.run(for: .seconds(31 + 3))  // 1 2 4 8 16, and 3 s of the next pause.
            #expect(await world.broker.connections.count == 6)
            await world.connect()
            #expect(await world.broker.connections.count == 7)
            #expect(world.provider.asked == [.zero, .seconds(34)])
            await world.run(for: .seconds(2))
            await world.connect()
            await world.run(for: .milliseconds(2_999))
            #expect(await world.broker.connections.count == 7)
            await world.run(for: .milliseconds(1))
            #expect(await world.broker.connections.count == 8)
        }
    }

    // MARK: Network and app phase

    /// 0.0.0.0 connects to this machine, but the client treats it as an address that needs a network.
    private static let far = ScriptedWorld.Way.tcp(host: "0.0.0.0")

    /// Advances the clock from timer to timer. After each timer it waits until the attempt that started has been
    /// refused, because sockets need real time.
    private static func run(_ world: ScriptedWorld, for duration: Duration) async {
        let end = world.clock.now + duration
        await untilRefused(world)
        while let next = await world.settle(), next <= end {
            world.clock.advance(to: next)
            await untilRefused(world)
        }
        world.clock.advance(to: end)
        await untilRefused(world)
    }

    /// Waits until every attempt has failed.
    private static func untilRefused(_ world: ScriptedWorld) async {
        await world.settle()
        await world.until {
            let events = world.events
            return events.count { $0 == "connectionAttempt" } == events.count { $0 == "connectionFailure" }
        }
    }

    @Test func `a returning network ends the reconnect delay`() async throws {
        let network = SwitchedNetwork()
        try await ScriptedWorld.run(afterwards: [.refuse(.serverUnavailable)], over: Self.far) {
            $0.environment.networkMonitor = network
        } _: { world in
            await world.connect()
            await Self.run(world, for: .seconds(20))  // The next attempt would begin at 31 s.
            #expect(await world.connectTimes.last == .seconds(15))
            network.become(.unavailable)
            await world.settle()
            network.become(.available)
            try await world.broker.connection(6)
            await world.settle()
            #expect(await world.connectTimes.last == .seconds(20))
            #expect(world.events.contains("connectionUnavailable") && world.events.contains("connectionAvailable"))
        }
    }

    @Test func `a hanging attempt is started again when the network returns`() async throws {
        let network = SwitchedNetwork()
        let silent = ConnectionScript.connection([.expect(.connect), .stall])
        try await ScriptedWorld.run([silent], over: Self.far) {
            $0.environment.networkMonitor = network
        } _: { world in
            await world.connect()
            try await world.broker.connection(1)
            await world.until { world.events.contains("connectedPacketSent") }
            await world.run(for: .seconds(6))
            network.become(.unavailable)
            await world.settle()
            network.become(.available)
            try await world.broker.connection(2)
            await world.until { world.client.connectionState == .connected }
            #expect(await world.connectTimes == .seconds(0, 6))
            #expect(world.errors(of: "connectionFailure").map(\.code) == [.connectionFailed])
        }
    }

    @Test func `frequent network changes cause only a few connection attempts`() async throws {
        let network = SwitchedNetwork()
        try await ScriptedWorld.run(afterwards: [.refuse(.serverUnavailable)], over: Self.far) {
            $0.environment.networkMonitor = network
        } _: { world in
            await world.connect()
            await Self.run(world, for: .seconds(32))
            let before = await world.broker.connections.count
            try #require(before == 6)
            for _ in 0..<20 {
                network.become(.unavailable)
                await world.settle()
                network.become(.available)
                await Self.run(world, for: .seconds(1))
            }
            let gaps = await world.gaps.dropFirst(before - 1)
            #expect(!gaps.isEmpty && gaps.allSatisfy { $0 >= .seconds(1) })
            #expect(await world.broker.connections.count - before <= 5)
        }
    }

    @Test func `without a network, the client tries to connect once a minute`() async throws {
        let network = SwitchedNetwork()
        try await ScriptedWorld.run(afterwards: [.refuse(.serverUnavailable)], over: Self.far) {
            $0.environment.networkMonitor = network
        } _: { world in
            await world.connect()
            await Self.untilRefused(world)
            network.become(.unavailable)
            await Self.run(world, for: .seconds(200))
            #expect(await world.gaps == .seconds(60, 60, 60))
        }
    }

    @Test func `a client with topics disconnects in the background and reconnects in the foreground`() async throws {
        let phases = AppPhaseController()
        try await ScriptedWorld.run {
            $0.environment.lifecycle = phases
            $0.topics = ["a": .one]
        } _: { world in
            await world.connect()
            phases.enterBackground()
            await world.run(for: .seconds(1))
            #expect(await world.broker.packets(.disconnect, on: 1).count == 1)
            #expect(world.client.connectionState == .disconnected)
            await world.run(for: .seconds(1_000))
            #expect(await world.broker.connections.count == 1)
            phases.enterForeground()
            await world.settle()
            #expect(world.client.connectionState == .connected)
            #expect(world.events.contains("appBackground") && world.events.contains("appForeground"))
        }
    }

    @Test func `a client without topics does not reconnect in the foreground before subscribe() is called`()
        async throws
    {
        let phases = AppPhaseController()
        try await ScriptedWorld.run {
            $0.environment.lifecycle = phases
        } _: { world in
            await world.connect()
            phases.enterBackground()
            await world.run(for: .seconds(10))
            let waiting = Task { [client = world.client] in try await client.connected() }
            await world.until { world.client.waitingCount == 1 }
            phases.enterForeground()
            await world.run(for: .seconds(100))
            #expect(await world.broker.connections.count == 1)
            let error = try #require(await world.connectedAnswer()?.failure)
            #expect(error.code == .sessionMissing && error.message.contains("connect()"))
            await #expect(throws: CourierError.self) { try await waiting.value }
            world.client.subscribe(("a", .one))
            await world.settle()
            #expect(await world.broker.connections.count == 2)
            #expect(await world.broker.packets(.subscribe, on: 2).count == 1)
        }
    }

    @Test func `a client whose last topic was unsubscribed does not reconnect in the foreground`() async throws {
        let phases = AppPhaseController()
        try await ScriptedWorld.run {
            $0.environment.lifecycle = phases
        } _: { world in
            await world.connect()
            world.client.subscribe(("a", .one))
            await world.settle()
            world.client.unsubscribe("a")
            await world.settle()
            #expect(world.events.contains("unsubscribeSuccess"))
            phases.enterBackground()
            await world.run(for: .seconds(10))
            phases.enterForeground()
            await world.run(for: .seconds(100))
            #expect(await world.broker.connections.count == 1)
        }
    }

    @Test func `if connect() is called in the background, the client connects when the app enters the foreground`()
        async throws
    {
        let phases = AppPhaseController(.background)
        try await ScriptedWorld.run {
            $0.environment.lifecycle = phases
        } _: { world in
            await world.connect()
            await world.run(for: .seconds(100))
            #expect(await world.broker.connections.isEmpty)
            phases.enterForeground()
            await world.settle()
            #expect(world.client.connectionState == .connected)
            #expect(await world.broker.connections.count == 1)
        }
    }

    @Test func `the reconnect delay ends at once when the app enters the foreground`() async throws {
        let phases = AppPhaseController()
        try await ScriptedWorld.run(afterwards: [.refuse(.serverUnavailable)]) {
            $0.environment.lifecycle = phases
            $0.topics = ["a": .one]
        } _: { world in
            await world.connect()
            await world.run(for: .seconds(18))
            phases.enterBackground()
            await world.run(for: .seconds(100))
            #expect(await world.broker.connections.count == 5)
            phases.enterForeground()
            await world.settle()
            #expect(await world.connectTimes.last == .seconds(118))
        }
    }

    @Test func `at most one connection attempt is open at a time`() async throws {
        let phases = AppPhaseController()
        // An attempt may end before its CONNECT. Its script then remains incomplete, which is expected here.
        try await ScriptedWorld.run(afterwards: [.expect(.connect), .stall], isScriptChecked: false) {
            $0.environment.lifecycle = phases
            $0.topics = ["a": .one]
        } _: { world in
            for step in 0..<60 {
                world.client.connect()
                if step % 7 == 3 { world.client.disconnect() }
                if step % 5 == 0 { phases.enterBackground() }
                if step % 5 == 1 { phases.enterForeground() }
                if step % 11 == 10 { world.client.destroy() }
                if step % 3 == 0 { await world.run(for: .milliseconds(1_700)) }
            }
            await world.settle()
            #expect(await world.broker.connections.count > 3)
        }  // At its end, the world checks that no connection overlaps another.
    }
}
