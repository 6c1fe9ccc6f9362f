import CourierCore
import CourierTesting
import CourierTransport
import MQTTCodec
import Testing

@testable import CourierMQTT

/// What the client does about silence.
@Suite(.timeLimit(.minutes(5))) struct ScriptedTimeoutTests {
    // MARK: Connecting

    @Test func `an attempt is given up when the policy says so`() async throws {
        try await ScriptedWorld.run([.connection([.expect(.connect), .stall])]) {
            $0.connectTimeoutPolicy = ConnectTimeoutPolicy(isEnabled: true, timeout: 3)
        } _: { world in
            await world.connect()
            await world.run(for: .milliseconds(2_999))
            #expect(!world.events.contains("connectionFailure"))
            await world.run(for: .milliseconds(1))
            #expect(world.errors(of: "connectionFailure").map(\.code) == [.timedOut])
            await world.run(for: .seconds(1))
            #expect(await world.connectTimes == .seconds(0, 4))
        }
    }

    @Test func `without the policy CONNACK has ten seconds`() async throws {
        try await ScriptedWorld.run([.connection([.expect(.connect), .stall])]) { world in
            await world.connect()
            await world.run(for: .seconds(12))
            #expect(world.errors(of: "connectionFailure").map(\.code) == [.timedOut])
            #expect(await world.connectTimes == .seconds(0, 11))
        }
    }

    // MARK: Keep-alive

    private static func keepAlive(_ seconds: UInt16) -> ScriptedProvider { ScriptedProvider([], keepAlive: seconds) }

    @Test func `a quiet client pings at the keep-alive, counted from what it sent last`() async throws {
        try await ScriptedWorld.run(provider: Self.keepAlive(10)) { world in
            await world.connect()
            await world.run(for: .seconds(33))
            #expect(await world.times(of: .pingReq) == .seconds(10, 20, 30))
            try world.client.publishMessage("x", topic: "t", qos: .zero)
            await world.run(for: .seconds(10))
            #expect(await world.times(of: .pingReq) == .seconds(10, 20, 30, 43))
            #expect(world.events.count { $0 == "ping" } == 4)
            #expect(world.events.count { $0 == "pongReceived" } == 4)
        }
    }

    @Test func `the keep-alive of the server counts`() async throws {
        let script = ConnectionScript.connection([.accept(properties: [.serverKeepAlive(4)])])
        try await ScriptedWorld.run([script], provider: Self.keepAlive(10)) { world in
            await world.connect()
            await world.run(for: .seconds(13))
            #expect(await world.times(of: .pingReq) == .seconds(4, 8, 12))
        }
    }

    @Test func `without a keep-alive nobody pings`() async throws {
        try await ScriptedWorld.run { world in
            await world.connect()
            await world.run(for: .seconds(10_000))
            #expect(await world.broker.packets(.pingReq).isEmpty)
            #expect(world.client.connectionState == .connected)
        }
    }

    @Test func `a ping without an answer is a loss after ten seconds, and the client is back at once`() async throws {
        let script = ConnectionScript.connection([.accept(), .fault(.drop(.pingResp, count: .max))])
        try await ScriptedWorld.run([script], provider: Self.keepAlive(60)) { world in
            await world.connect()
            await world.run(for: .milliseconds(69_999))
            #expect(!world.events.contains("pingFailure"))
            await world.run(for: .milliseconds(1))
            #expect(await world.connectTimes == .seconds(0, 70))
            #expect(Array(world.events.suffix(7).prefix(3)) == ["ping", "pingFailure", "connectionLost"])
            #expect(world.errors(of: "connectionLost").map(\.code) == [.timedOut])
        }
    }

    @Test func `several pings before the loss are one ping that failed`() async throws {
        let script = ConnectionScript.connection([.accept(), .fault(.drop(.pingResp, count: .max))])
        try await ScriptedWorld.run([script], provider: Self.keepAlive(4)) { world in
            await world.connect()
            await world.run(for: .seconds(14))
            #expect(await world.times(of: .pingReq, on: 1) == .seconds(4, 8, 12))
            #expect(world.events.count { $0 == "ping" } == 1)
            #expect(world.events.count { $0 == "pingFailure" } == 1)
        }
    }

    @Test func `a connection that ends while a ping waits ends the ping first`() async throws {
        let script = ConnectionScript.connection([.accept(), .serve(until: .pingReq), .cut(.orderly)])
        try await ScriptedWorld.run([script], provider: Self.keepAlive(10)) { world in
            await world.connect()
            await world.run(for: .seconds(10))
            #expect(world.events.suffix(3) == ["ping", "pingFailure", "connectionLost"])
        }
    }

    // MARK: Idleness

    private static let idle = IdleActivityTimeoutPolicy(isEnabled: true, inactivityTimeout: 10, readTimeout: 40)

    @Test func `a broker that answers is never idle`() async throws {
        try await ScriptedWorld.run {
            $0.idleActivityTimeoutPolicy = Self.idle
        } _: { world in
            await world.connect()
            await world.run(for: .seconds(1_000))
            #expect(await world.broker.connections.count == 1)
            #expect(await world.times(of: .pingReq).prefix(3) == [.seconds(20), .seconds(40), .seconds(60)])
        }
    }

    @Test func `a broker that is silent is probed, and given up`() async throws {
        try await ScriptedWorld.run([.connection([.accept(), .stall])]) {
            $0.idleActivityTimeoutPolicy = Self.idle
        } _: { world in
            await world.connect()
            await world.run(for: .milliseconds(29_999))
            #expect(await world.times(of: .pingReq) == [.seconds(20)])
            #expect(!world.events.contains("connectionLost"))
            await world.run(for: .milliseconds(1))
            #expect(world.errors(of: "connectionLost").map(\.code) == [.timedOut])
            #expect(await world.connectTimes == .seconds(0, 30))
        }
    }

    @Test func `a broker that does not answer what was sent is given up sooner`() async throws {
        try await ScriptedWorld.run([.connection([.accept(), .stall])]) {
            $0.idleActivityTimeoutPolicy = Self.idle
        } _: { world in
            await world.connect()
            await world.run(for: .seconds(1))
            let outcome = try world.publish("x")
            await world.run(for: .seconds(10))
            #expect(world.errors(of: "connectionLost").map(\.code) == [.timedOut])
            await world.run(for: .seconds(2))
            #expect(outcome.value?.success?.reasonCode == .success)
        }
    }

    @Test func `without the policy silence is no loss`() async throws {
        try await ScriptedWorld.run([.connection([.accept(), .stall])]) { world in
            await world.connect()
            await world.run(for: .seconds(10_000))
            #expect(world.client.connectionState == .connected)
        }
    }

    @Test func `a network that comes back is answered by a ping, which has three seconds`() async throws {
        let network = SwitchedNetwork()
        try await ScriptedWorld.run([.connection([.accept(), .stall])], over: .tcp(host: "0.0.0.0")) {
            $0.environment.networkMonitor = network
        } _: { world in
            await world.connect()
            try await world.broker.connection(1)
            await world.until { world.client.connectionState == .connected }
            await world.run(for: .seconds(20))
            network.become(.unavailable)
            await world.settle()
            #expect(world.client.connectionState == .connected)
            network.become(.available)
            try await world.broker.received(.pingReq)
            await world.run(for: .milliseconds(2_999))
            #expect(!world.events.contains("connectionLost"))
            await world.run(for: .milliseconds(1))
            try await world.broker.connection(2)
            #expect(world.errors(of: "connectionLost").map(\.code) == [.timedOut])
            #expect(await world.connectTimes == .seconds(0, 23))
        }
    }

    @Test func `a machine that wakes up is answered by a ping, which has three seconds`() async throws {
        try await ScriptedWorld.run([.connection([.accept(), .stall])]) { world in
            await world.connect()
            await world.run(for: .seconds(20))
            let loop = world.loop
            loop.execute { SuspendWatch.shared(on: loop).listeners.tell(()) }
            await world.run(for: .milliseconds(2_999))
            #expect(await world.times(of: .pingReq) == [.seconds(20)])
            #expect(!world.events.contains("connectionLost"))
            await world.run(for: .milliseconds(1))
            #expect(world.errors(of: "connectionLost").map(\.code) == [.timedOut])
            #expect(await world.connectTimes == .seconds(0, 23))
        }
    }

    // MARK: Acknowledgements

    @Test func `a message without an acknowledgement is a loss after a minute`() async throws {
        let script = ConnectionScript.connection([.accept(), .fault(.drop(.pubAck))])
        let again = ConnectionScript.connection([.accept(isSessionPresent: true)])
        try await ScriptedWorld.run([script, again]) { world in
            await world.connect()
            let outcome = try world.publish("x")
            await world.run(for: .milliseconds(59_999))
            #expect(!world.events.contains("connectionLost"))
            await world.run(for: .milliseconds(1_001))
            #expect(world.errors(of: "connectionLost").map(\.code) == [.timedOut])
            #expect(await world.connectTimes == .seconds(0, 61))
            let publishes = await world.publishes()
            #expect(publishes.map(\.delivery.isDuplicate) == [false, true])
            #expect(Set(publishes.map(\.delivery.packetID)).count == 1)
            #expect(outcome.value?.success?.reasonCode == .success)
        }
    }

    @Test func `without a limit an acknowledgement may take for ever`() async throws {
        let script = ConnectionScript.connection([.accept(), .fault(.delay(.pubAck, by: .seconds(5_000)))])
        try await ScriptedWorld.run([script]) {
            $0.session.acknowledgementTimeout = nil
        } _: { world in
            await world.connect()
            let outcome = try world.publish("x")
            await world.run(for: .seconds(4_999))
            #expect(outcome.value == nil)
            await world.run(for: .seconds(1))
            #expect(outcome.value?.success?.reasonCode == .success)
            #expect(await world.broker.connections.count == 1)
        }
    }

    @Test func `a broker that does not close an orderly end has five seconds`() async throws {
        try await ScriptedWorld.run([.connection([.accept(), .stall])], over: .memory(capacity: 256)) { world in
            await world.connect()
            world.client.disconnect()
            await world.run(for: .seconds(5))
            #expect(world.events.last == "connectionDisconnect")
            #expect(world.client.connectionState == .disconnected)
        }
    }
}
