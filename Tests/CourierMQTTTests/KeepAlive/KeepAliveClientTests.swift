import CourierCore
import CourierTesting
import CourierTransport
import Foundation
import MQTTCodec
import Synchronization
import Testing

@testable import CourierMQTT

/// A client with an adaptive keep-alive, in virtual time, on paths that forget idle connections.
@Suite(.timeLimit(.minutes(5))) struct KeepAliveClientTests {
    private static let keepAlive = AdaptiveKeepAlive(
        minimumInterval: .seconds(60), maximumInterval: .seconds(600), step: .seconds(60))

    private func run(
        _ script: [ConnectionScript] = [], over path: ForgetfulPath, _ keepAlive: AdaptiveKeepAlive = Self.keepAlive,
        _ change: (inout MQTTClientConfig) -> Void = { _ in }, _ body: (ScriptedWorld) async throws -> Void
    ) async throws {
        // The broker keeps a connection that the path has forgotten, because the broker is not notified.
        try await ScriptedWorld.run(script, mayOverlap: true) { config in
            config.session.adaptiveKeepAlive = keepAlive
            guard let loop = config.environment.eventLoops?.loops[0], let endpoint = config.endpoint else { return }
            config.endpoint = { path.endpoint(to: endpoint($0), on: loop) }
            change(&config)
        } _: { world in
            await world.connect()
            try await body(world)
        }
    }

    @Test func `the client finds and then uses the longest ping interval that the network path allows`() async throws {
        let path = ForgetfulPath(limit: .seconds(200))
        try await run(over: path) { world in
            await world.run(for: .seconds(1_400))
            #expect(await world.connectTimes == .seconds(0, 610))
            // The fourth ping, after 240 s, was dropped.
            #expect(await world.times(of: .pingReq, on: 1) == .seconds(60, 180, 360))
            #expect(await world.times(of: .pingReq, on: 2) == .seconds(790, 970, 1_150, 1_330))
            #expect(path.fatalSilences == .seconds(240))
            #expect(world.errors(of: "connectionLost").map(\.code) == [.timedOut])
            await world.run(for: .seconds(100_000))
            #expect(await world.broker.connections.count == 2)
        }
    }

    @Test(arguments: [ForgetfulPath.Manner.resets, .closes])
    func `on a network path that resets or closes idle connections, the keep-alive search loses only one connection`(
        _ manner: ForgetfulPath.Manner
    ) async throws {
        let path = ForgetfulPath(limit: .seconds(200), manner)
        try await run(over: path) { world in
            await world.run(for: .seconds(20_000))
            #expect(await world.broker.connections.count == 2)
            let pings = await world.times(of: .pingReq, on: 2)
            #expect(Set(zip(pings, pings.dropFirst()).map { $1 - $0 }) == [.seconds(180)])
        }
    }

    @Test func `CONNECT has a keep-alive above the longest adaptive interval, not the value from ConnectOptions`()
        async throws
    {
        try await run(over: ForgetfulPath(limit: nil)) { world in
            guard case .connect(let connect)? = await world.broker.packets(.connect).first?.packet else {
                Issue.record("no CONNECT")
                return
            }
            #expect(connect.keepAlive == 667)
            await world.run(for: .seconds(20_000))
            let pings = await world.times(of: .pingReq)
            #expect(pings.prefix(3) == [.seconds(60), .seconds(180), .seconds(360)])
            #expect(pings.suffix(2).reduce(.zero) { $1 - $0 } == .seconds(600))
            #expect(await world.broker.connections.count == 1)
        }
    }

    @Test func `[MQTT-3.2.2-21] the ping interval stays below the keep-alive of the server`() async throws {
        let script = ConnectionScript.connection([.accept(properties: [.serverKeepAlive(100)])])
        try await run([script], over: ForgetfulPath(limit: nil)) { world in
            await world.run(for: .seconds(400))
            #expect(await world.times(of: .pingReq) == .seconds(60, 150, 240, 330))
        }
    }

    @Test func `the client sends a ping only after a whole interval without traffic`() async throws {
        try await run(over: ForgetfulPath(limit: nil)) { world in
            // The client receives no answer to the first three messages.
            for qos in [QoS.zero, .zero, .zero, .one, .one] {
                await world.run(for: .seconds(50))
                try world.client.publishMessage("x", topic: "t", qos: qos)
            }
            await world.run(for: .seconds(59))
            #expect(await world.broker.packets(.pingReq).isEmpty)
            await world.run(for: .seconds(1))
            #expect(await world.times(of: .pingReq) == .seconds(310))
        }
    }

    @Test func `a missing PUBACK does not shorten the ping interval`() async throws {
        let script = ConnectionScript.connection([.accept(), .fault(.drop(.pubAck))])
        let again = ConnectionScript.connection([.accept(isSessionPresent: true)])
        try await run([script, again], over: ForgetfulPath(limit: nil)) { world in
            await world.run(for: .seconds(190))
            let outcome = try world.publish("x")
            await world.run(for: .seconds(250))
            #expect(outcome.value?.success?.reasonCode == .success)
            #expect(world.errors(of: "connectionLost").map(\.code) == [.timedOut])
            let opened = try #require(await world.connectTimes.last)
            #expect(await world.times(of: .pingReq, on: 2) == [opened + .seconds(180)])
        }
    }

    @Test func `[MQTT-3.1.2-20] a client that only receives messages sends a ping within the keep-alive`()
        async throws
    {
        let message = Publish(topic: "t", payload: [1])
        let feed = (0..<74).flatMap { _ in [ScriptStep.pause(.seconds(9)), .send(.publish(message))] }
        let script = ConnectionScript.connection([.accept()] + feed)
        try await run([script], over: ForgetfulPath(limit: nil)) { world in
            await world.run(for: .seconds(730))
            // The last message arrived at 666 s, so the next interval ends 60 s after the answer.
            #expect(await world.times(of: .pingReq) == .seconds(667, 727))
            #expect(await world.broker.connections.count == 1)
        }
    }

    @Test func `memoryChanged receives the found ping interval, and a new client can start with this interval`()
        async throws
    {
        let stored = Mutex<[KeepAliveMemory]>([])
        var keepAlive = Self.keepAlive
        keepAlive.network = { "home" }
        keepAlive.memoryChanged = { memory in stored.withLock { $0.append(memory) } }
        let path = ForgetfulPath(limit: .seconds(200))
        try await run(over: path, keepAlive) { world in await world.run(for: .seconds(2_000)) }
        let memories = stored.withLock { $0 }
        #expect(memories.map { $0["home"]?.interval } == [60, 120, 180, 180].map { .seconds($0) })
        #expect(memories.map { $0["home"]?.failedInterval } == [nil, nil, nil, .seconds(240)])
        keepAlive.memory = try #require(memories.last)
        try await run(over: path, keepAlive) { world in
            await world.run(for: .seconds(1_000))
            #expect(await world.times(of: .pingReq) == .seconds(180, 360, 540, 720, 900))
        }
        #expect(path.fatalSilences.count == 1)
    }

    @Test func `each network has its own ping interval`() async throws {
        let network = Mutex("home")
        var keepAlive = Self.keepAlive
        keepAlive.network = { network.withLock { $0 } }
        let path = ForgetfulPath(limit: .seconds(130))
        func pings(_ world: ScriptedWorld, on connection: Int) async -> [Duration] {
            let opened = await world.connectTimes[connection - 1]
            return await world.times(of: .pingReq, on: connection).map { $0 - opened }
        }
        func move(_ world: ScriptedWorld, to name: String) async {
            world.client.disconnect()
            await world.run(for: .seconds(1))
            network.withLock { $0 = name }
            await world.connect()
        }
        try await run(over: path, keepAlive) { world in
            await world.run(for: .seconds(1_000))
            #expect(await pings(world, on: 2).first == .seconds(120))
            path.limit = nil
            await move(world, to: "street")
            await world.run(for: .seconds(400))
            #expect(await pings(world, on: 3) == .seconds(60, 180, 360))
            await move(world, to: "home")
            await world.run(for: .seconds(300))
            #expect(await pings(world, on: 4) == .seconds(120, 240))
            await move(world, to: "street")
            await world.run(for: .seconds(300))
            #expect(await pings(world, on: 5) == .seconds(240))
        }
    }

    @Test func `a broker outage does not shorten the ping interval`() async throws {
        let script: [ConnectionScript] = [
            .connection([.accept(), .serve(until: .pingReq), .cut(.reset)]), .connection([.refuse(.serverUnavailable)]),
        ]
        try await run(script, over: ForgetfulPath(limit: nil)) { world in
            await world.run(for: .seconds(500))
            let again = try #require(await world.connectTimes.last)
            #expect(await world.times(of: .pingReq, on: 3).map { $0 - again } == .seconds(60, 180, 360))
        }
    }

    @Test func `a connection lost while the network is unavailable does not shorten the ping interval`() async throws {
        let network = SwitchedNetwork()
        let path = ForgetfulPath(limit: .seconds(200))
        try await run(over: path) {
            $0.environment.networkMonitor = network
        } _: { world in
            await world.run(for: .seconds(500))
            network.become(.unavailable)
            await world.run(for: .seconds(110))
            #expect(await world.connectTimes == .seconds(0, 610))
            await world.run(for: .seconds(600))
            // The interval of 240 s is tried again, and fails again.
            #expect(path.fatalSilences == .seconds(240, 240))
            #expect(await world.connectTimes == .seconds(0, 610, 860))
            #expect(await world.times(of: .pingReq, on: 3) == .seconds(1_040))
        }
    }

    @Test func `a failed credential fetch after a loss does not shorten the ping interval`() async throws {
        let provider = ShortLivedGrants(timeToLive: 620)
        let path = ForgetfulPath(limit: .seconds(200))
        try await run(over: path) { config in
            var other = MQTTClientConfig(provider: provider)
            other.deliveryQueue = config.deliveryQueue
            other.environment.eventLoops = config.environment.eventLoops
            other.endpoint = config.endpoint
            other.environment.networkMonitor = config.environment.networkMonitor
            other.session.adaptiveKeepAlive = config.session.adaptiveKeepAlive
            config = other
        } _: { world in
            await world.until { world.client.connectionState == .connected }
            provider.isFailing = true
            await world.run(for: .seconds(600))
            await world.until {
                await world.run(for: .seconds(5))
                return world.events.contains("connectionLost")
            }
            await world.until {
                world.events.drop { $0 != "connectionLost" }.contains("connectionServiceAuthFailure")
            }
            provider.isFailing = false
            path.limit = nil
            await world.until {
                await world.run(for: .seconds(5))
                return world.client.connectionState == .connected
            }
            #expect(path.fatalSilences == .seconds(240))
            await world.run(for: .seconds(300))
            let again = try #require(await world.connectTimes.last)
            #expect(await world.times(of: .pingReq, on: 2).map { $0 - again } == .seconds(240))
        }
    }

    @Test func `a connection lost while a slow reader pauses reading does not shorten the ping interval`() async throws
    {
        var keepAlive = Self.keepAlive
        keepAlive.network = { "home" }
        keepAlive.memory.keep(
            KeepAliveMemory.Finding(network: "home", interval: .seconds(120), failedInterval: nil, date: Date()))
        let messages = (1...3).map { id in
            ScriptStep.send(.publish(Publish(topic: "t", payload: [id], delivery: .atMostOnce)))
        }
        let script = ConnectionScript.connection(
            [.accept(), .serve(until: .subscribe), .answer] + messages + [.pause(.seconds(130)), .cut(.orderly)])
        try await run([script], over: ForgetfulPath(limit: nil), keepAlive) { world in
            let buffer = ReadBuffer(limit: 3, overflow: .pause)
            var reader = world.client.messages(Message.self, from: "t", buffer: buffer).makeAsyncIterator()
            await world.run(for: .seconds(135))
            #expect(await world.broker.connections.count == 1)
            for _ in messages { _ = try await reader.next() }
            await world.until { world.events.contains("connectionLost") }
            await world.run(for: .seconds(200))
            let again = try #require(await world.connectTimes.last)
            #expect(await world.times(of: .pingReq).map { $0 - again } == .seconds(180))
        }
    }

    @Test func `no ping is sent while reading is paused`() async throws {
        try await run(over: ForgetfulPath(limit: nil)) { world in
            let driver = world.client.parts.coordinator.driver
            world.loop.execute { driver.setReadingPaused(true) }
            await world.run(for: .seconds(90))
            world.loop.execute { driver.setReadingPaused(false) }
            await world.run(for: .seconds(400))
            // The timer fires after 60 s. A new interval begins then.
            #expect(await world.times(of: .pingReq).first == .seconds(120))
        }
    }

    @Test func `if the network path becomes worse, the ping interval becomes shorter`() async throws {
        let path = ForgetfulPath(limit: .seconds(310))
        try await run(over: path) { world in
            await world.run(for: .seconds(5_000))
            #expect(await world.broker.connections.count == 2)
            path.limit = .seconds(200)
            await world.run(for: .seconds(20_000))
            // The intervals of 300 s and 240 s fail, one after the other.
            #expect(path.fatalSilences == .seconds(360, 300, 240))
            let pings = await world.times(of: .pingReq, on: 4).suffix(2)
            #expect(pings.reduce(.zero) { $1 - $0 } == .seconds(180))
        }
    }

    @Test func `the log names the ping interval in use`() async throws {
        final class Log: LogHandler {
            let lines = Mutex<[String]>([])
            func log(_ record: LogRecord) {
                if record.source == "keep-alive" { lines.withLock { $0.append(record.message) } }
            }
        }
        let log = Log()
        try await run(over: ForgetfulPath(limit: .seconds(70))) {
            $0.logHandler = log
        } _: { world in
            await world.run(for: .seconds(300))
        }
        #expect(
            log.lines.withLock { $0 } == [
                "the client pings after 120.0 seconds of silence",
                "the client pings after 60.0 seconds of silence; "
                    + "an interval of 120.0 seconds is too long for this network",
            ])
    }
}

/// Returns options that expire after some seconds, or fails.
private final class ShortLivedGrants: ConnectionServiceProvider {
    let clientID = "scripted"
    private let timeToLive: Double
    private let failing = Mutex(false)

    init(timeToLive: Double) { self.timeToLive = timeToLive }

    var isFailing: Bool {
        get { failing.withLock { $0 } }
        set { failing.withLock { $0 = newValue } }
    }

    func connectOptions() async throws -> ConnectGrant {
        if isFailing { throw CourierError(.authenticationFailed, "There are no tokens today.") }
        return ConnectGrant(
            ConnectOptions(
                host: "broker.invalid", port: 1883, keepAlive: 0, clientId: "scripted", username: "", password: ""),
            expiresAt: Date(timeIntervalSinceNow: timeToLive))
    }
}
