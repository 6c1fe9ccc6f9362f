import CourierCore
import CourierTesting
import CourierTransport
import MQTTCodec
import Testing

@testable import CourierMQTT

/// Timeouts of attempts, pings, idle connections and acknowledgements.
@Suite(.timeLimit(.minutes(5))) struct ScriptedTimeoutTests {
    // MARK: Connecting

    @Test func `an attempt fails with timedOut after the timeout of ConnectTimeoutPolicy`() async throws {
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

    @Test func `by default, an attempt without a CONNACK fails after 10 s`() async throws {
        try await ScriptedWorld.run([.connection([.expect(.connect), .stall])]) { world in
            await world.connect()
            await world.run(for: .seconds(12))
            #expect(world.errors(of: "connectionFailure").map(\.code) == [.timedOut])
            #expect(await world.connectTimes == .seconds(0, 11))
        }
    }

    // MARK: Keep-alive

    private static func keepAlive(_ seconds: UInt16) -> ScriptedProvider { ScriptedProvider([], keepAlive: seconds) }

    @Test func `PINGREQ is sent when no packet was sent during the keep-alive interval`() async throws {
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

    @Test func `the server's keep-alive replaces the client's keep-alive`() async throws {
        let script = ConnectionScript.connection([.accept(properties: [.serverKeepAlive(4)])])
        try await ScriptedWorld.run([script], provider: Self.keepAlive(10)) { world in
            await world.connect()
            await world.run(for: .seconds(13))
            #expect(await world.times(of: .pingReq) == .seconds(4, 8, 12))
        }
    }

    @Test func `without a keep-alive, no PINGREQ is sent`() async throws {
        try await ScriptedWorld.run { world in
            await world.connect()
            await world.run(for: .seconds(10_000))
            #expect(await world.broker.packets(.pingReq).isEmpty)
            #expect(world.client.connectionState == .connected)
        }
    }

    @Test func `an unanswered PINGREQ ends the connection after 10 s, and the client reconnects at once`() async throws
    {
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

    @Test func `several unanswered PINGREQs are reported as one ping and one pingFailure`() async throws {
        let script = ConnectionScript.connection([.accept(), .fault(.drop(.pingResp, count: .max))])
        try await ScriptedWorld.run([script], provider: Self.keepAlive(4)) { world in
            await world.connect()
            await world.run(for: .seconds(14))
            #expect(await world.times(of: .pingReq, on: 1) == .seconds(4, 8, 12))
            #expect(world.events.count { $0 == "ping" } == 1)
            #expect(world.events.count { $0 == "pingFailure" } == 1)
        }
    }

    @Test func `pingFailure is reported before connectionLost if the connection ends during a ping`() async throws {
        let script = ConnectionScript.connection([.accept(), .serve(until: .pingReq), .cut(.orderly)])
        try await ScriptedWorld.run([script], provider: Self.keepAlive(10)) { world in
            await world.connect()
            await world.run(for: .seconds(10))
            #expect(world.events.suffix(3) == ["ping", "pingFailure", "connectionLost"])
        }
    }

    // MARK: Idle connections

    private static let idle = IdleActivityTimeoutPolicy(isEnabled: true, inactivityTimeout: 10, readTimeout: 40)

    @Test func `with an idle timeout, the connection stays open if the broker answers PINGREQ`() async throws {
        try await ScriptedWorld.run {
            $0.idleActivityTimeoutPolicy = Self.idle
        } _: { world in
            await world.connect()
            await world.run(for: .seconds(1_000))
            #expect(await world.broker.connections.count == 1)
            #expect(await world.times(of: .pingReq).prefix(3) == [.seconds(20), .seconds(40), .seconds(60)])
        }
    }

    @Test func `with an idle timeout, a silent broker is pinged after 20 s and disconnected after 30 s`() async throws {
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

    @Test func `with an idle timeout, an unanswered publish ends the connection after 10 s`() async throws {
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

    @Test func `without an idle timeout, a connection to a silent broker stays open`() async throws {
        try await ScriptedWorld.run([.connection([.accept(), .stall])]) { world in
            await world.connect()
            await world.run(for: .seconds(10_000))
            #expect(world.client.connectionState == .connected)
        }
    }

    @Test func `when the network returns, PINGREQ is sent, and the connection ends after 3 s without an answer`()
        async throws
    {
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

    @Test func `when the machine wakes up, PINGREQ is sent, and the connection ends after 3 s without an answer`()
        async throws
    {
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

    @Test func `a missing PUBACK ends the connection after 60 s, and the message is sent again`() async throws {
        let script = ConnectionScript.connection([.accept(), .fault(.drop(.pubAck))])
        let again = ConnectionScript.connection([.accept(isSessionPresent: true)])
        try await ScriptedWorld.run([script, again]) { world in
            await world.connect()
            let outcome = try world.publish("x")
            await world.run(for: .milliseconds(59_999))
            #expect(!world.events.contains("connectionLost"))
            await world.run(for: .milliseconds(1_001))
            let error = world.errors(of: "connectionLost").first
            #expect(error?.code == .timedOut)
            #expect(error?.message.contains("PUBLISH with packet id 1 within 60.0 seconds") == true)
            #expect(await world.connectTimes == .seconds(0, 61))
            let publishes = await world.publishes()
            #expect(publishes.map(\.delivery.isDuplicate) == [false, true])
            #expect(Set(publishes.map(\.delivery.packetID)).count == 1)
            #expect(outcome.value?.success?.reasonCode == .success)
        }
    }

    @Test func `without an acknowledgementTimeout, a PUBACK after 5000 s is accepted`() async throws {
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

    @Test func `disconnect() ends within 5 s if the broker does not close the connection`() async throws {
        try await ScriptedWorld.run([.connection([.accept(), .stall])], over: .memory(capacity: 256)) { world in
            await world.connect()
            world.client.disconnect()
            await world.run(for: .seconds(5))
            #expect(world.events.last == "connectionDisconnect")
            #expect(world.client.connectionState == .disconnected)
        }
    }
}
