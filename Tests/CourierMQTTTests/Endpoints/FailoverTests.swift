import CourierCore
import CourierTesting
import CourierTransport
import MQTTCodec
import Synchronization
import TestSupport
import Testing

@testable import CourierMQTT

/// Clients with several endpoints, with real brokers, and in virtual time.
@Suite(.timeLimit(.minutes(5))) struct FailoverTests {
    private static func options(
        _ port: UInt16, id: String = "failover-%%%%%%%%", _ alternatives: [BrokerEndpoint]
    ) -> ConnectOptions {
        ConnectOptions(
            host: "127.0.0.1", port: port, clientId: id, username: "", password: "", alternatives: alternatives)
    }

    private static func endpoint(_ port: UInt16, priority: UInt16 = 0) -> BrokerEndpoint {
        BrokerEndpoint(host: "127.0.0.1", port: port, priority: priority)
    }

    /// Makes pauses so long that the test would exceed its time limit in a pause.
    private static func withoutPatience(_ config: inout MQTTClientConfig) {
        config.autoReconnectInterval = 3_600
        config.maxAutoReconnectInterval = 3_600
    }

    // MARK: Real brokers

    @Test func `if a broker is killed, the client connects to the next endpoint at once and publishes there`()
        async throws
    {
        let first = try await RealBroker()
        let second = try await RealBroker()
        let test = try TestClient(
            Self.options(first.port, [Self.endpoint(second.port)]), Self.withoutPatience)
        let log = AttemptLog(test)
        try await test.connect()
        var notes = test.client.messages(String.self, from: "n", qos: .one).makeAsyncIterator()
        try await test.client.publish("one", to: "n", qos: .one)
        #expect(try await notes.next() == "one")
        await first.kill()
        try await test.wait(for: "connectionSuccess", count: 2)
        #expect(await log.targets(2) == ["127.0.0.1:\(first.port)", "127.0.0.1:\(second.port)"])
        // The client subscribes at the new broker before it publishes.
        try await test.client.publish("two", to: "n", qos: .one)
        #expect(try await notes.next() == "two")
        try await test.end()
        await first.remove()
        await second.remove()
    }

    @Test func `the client finds the only live broker of three within one round`() async throws {
        let live = try await RealBroker()
        let dead = [try LocalPort.free(), try LocalPort.free()]
        let test = try TestClient(
            Self.options(dead[0], [Self.endpoint(dead[1]), Self.endpoint(live.port, priority: 7)]),
            Self.withoutPatience)
        let log = AttemptLog(test)
        try await test.connect()
        #expect(await log.targets(3) == [dead[0], dead[1], live.port].map { "127.0.0.1:\($0)" })
        let failures = test.events.filter { $0.name == "connectionFailure" }.compactMap { $0.error as? CourierError }
        #expect(failures.count == 2)
        for (failure, port) in zip(failures, dead) { #expect(failure.message.contains("127.0.0.1:\(port)")) }
        try await test.end()
        await live.remove()
    }

    @Test func `the MQTT version that one broker accepted is used for the first attempt at the next broker`()
        async throws
    {
        var configuration = BrokerConfiguration()
        configuration.versions = [.v311]
        let first = try LoopbackBroker.start(on: .tcp(port: try LocalPort.free()), configuration: configuration)
        let second = try LoopbackBroker.start(on: .tcp(port: try LocalPort.free()), configuration: configuration)
        let test = try TestClient(
            Self.options(first.port, [Self.endpoint(second.port)]), Self.withoutPatience)
        let log = AttemptLog(test)
        try await test.connect()
        await first.shutdown()
        try await test.wait(for: "connectionSuccess", count: 2)
        let ports = [first.port, first.port, second.port]
        #expect(await log.targets(ports.count) == ports.map { "127.0.0.1:\($0)" })
        try await test.end()
        await second.shutdown()
    }

    // MARK: What belongs to the cluster

    /// One broker under two names, like a cluster. Each name can be unreachable.
    private final class TwoNames: Sendable {
        let broker: LoopbackBroker
        private let down: Mutex<Set<String>>
        private let deadPort: UInt16

        init(down: Set<String> = []) throws {
            broker = try LoopbackBroker.start(on: .tcp(port: try LocalPort.free()))
            deadPort = try LocalPort.free()
            self.down = Mutex(down)
        }

        func setDown(_ names: Set<String>) { down.withLock { $0 = names } }

        func endpoint(_ options: ConnectOptions) -> TransportEndpoint {
            let isDown = down.withLock { $0.contains(options.host) }
            return isDown ? .tcp(host: "127.0.0.1", port: deadPort) : broker.connectInMemory()
        }

        static func options(id: String, priority: UInt16 = 1) -> ConnectOptions {
            ConnectOptions(
                host: "n1", port: 1883, clientId: id, username: "", password: "",
                alternatives: [BrokerEndpoint(host: "n2", port: 1883, priority: priority)])
        }
    }

    @Test func `stored subscriptions belong to the scope of the first endpoint, even if another endpoint is connected`()
        async throws
    {
        let names = try TwoNames(down: ["n1"])
        let store = MemoryMessageStore()
        let options = TwoNames.options(id: "stored")
        let home = StoreScope(clientID: "stored", broker: "n1:1883")
        let change: (inout MQTTClientConfig) -> Void = {
            Self.withoutPatience(&$0)
            $0.messageStore = store
            $0.endpoint = names.endpoint
        }

        let before = try TestClient(options, change)
        let log = AttemptLog(before)
        try await before.connect()
        #expect(await log.targets(2) == ["n1:1883", "n2:1883"])
        before.client.subscribe(("stored/#", .one))
        try await before.wait(for: "subscribeSuccess")
        try await before.end()
        #expect(await store.subscriptions(in: home).map(\.filter.description) == ["stored/#"])

        // The next process connects to the other name, and finds the session of the earlier process.
        names.setDown(["n2"])
        let after = try TestClient(options, change)
        let laterLog = AttemptLog(after)
        try await after.connect()
        try await after.wait(for: "subscribeSuccess")
        #expect(await laterLog.targets(1) == ["n1:1883"])
        #expect(await store.subscriptions(in: home).count == 1)
        #expect(await store.subscriptions(in: StoreScope(clientID: "stored", broker: "n2:1883")).isEmpty)
        try await after.end()
        await names.broker.shutdown()
    }

    @Test func `the client returns to the preferred endpoint by itself and keeps its subscription`() async throws {
        let names = try TwoNames(down: ["n1"])
        let test = try TestClient(TwoNames.options(id: "home")) {
            Self.withoutPatience(&$0)
            $0.endpoint = names.endpoint
            $0.endpoints.returnsToPreferred = .after(.milliseconds(100))
        }
        let log = AttemptLog(test)
        try await test.connect()
        var notes = test.client.messages(String.self, from: "n", qos: .one).makeAsyncIterator()
        try await test.client.publish("one", to: "n", qos: .one)
        #expect(try await notes.next() == "one")
        names.setDown([])
        try await test.wait("for the way back") { events in
            events.count { $0.name == "connectionDisconnect" } >= 1
                && events.count { $0.name == "connectionSuccess" } >= 2
        }
        await log.wait(forLast: "n1:1883")
        try await test.client.publish("two", to: "n", qos: .one)
        #expect(try await notes.next() == "two")
        #expect(test.events.count { $0.name == "connectionLost" } == 0, "it leaves in order")
        try await test.end()
        await names.broker.shutdown()
    }

    // MARK: By the virtual clock

    @Test func `with three endpoints, the reconnect pause grows once per round`() async throws {
        let options = ConnectOptions(
            host: "broker.invalid", port: 1883, keepAlive: 0, clientId: "scripted", username: "", password: "",
            alternatives: [BrokerEndpoint(host: "b.invalid", port: 1), BrokerEndpoint(host: "c.invalid", port: 2)])
        let provider = ScriptedProvider(options)
        try await ScriptedWorld.run(afterwards: [.refuse(.serverUnavailable)], provider: provider) { world in
            let log = AttemptLog(world.test)
            await world.connect()
            await world.run(for: .seconds(16))
            #expect(await world.gaps == .seconds(0, 0, 1, 0, 0, 2, 0, 0, 4, 0, 0, 8, 0, 0))
            for round in stride(from: 0, to: 15, by: 3) {
                #expect(log.targets[round] == "broker.invalid:1883")
                #expect(Set(log.targets[round..<round + 3]).count == 3)
            }
            #expect(world.provider.asked.count == 1)
        }
    }

    @Test func `refused credentials are renewed, and the same endpoint is tried again`() async throws {
        let options = ConnectOptions(
            host: "broker.invalid", port: 1883, keepAlive: 0, clientId: "scripted", username: "", password: "",
            alternatives: [BrokerEndpoint(host: "b.invalid", port: 1)])
        let script: [ConnectionScript] = [
            .connection([.refuse(.badUserNameOrPassword)]), .connection([.refuse(.notAuthorized)]),
        ]
        try await ScriptedWorld.run(script, provider: ScriptedProvider(options)) { world in
            let log = AttemptLog(world.test)
            await world.connect()
            await world.run(for: .seconds(10))
            #expect(log.targets == Array(repeating: "broker.invalid:1883", count: 3))
            #expect(world.provider.cleared.count == 2)
            #expect(world.client.connectionState == .connected)
        }
    }

    // MARK: Service records

    @Test func `servers of service records are tried by priority, and subscriptions are stored for the domain`()
        async throws
    {
        let store = MemoryMessageStore()
        let broker = try await RealBroker()
        let dead = try LocalPort.free()
        let dns = try DNSServer([
            "_mqtt._tcp.cluster.example": .records([
                ServiceRecord(priority: 20, weight: 1, port: broker.port, target: "localhost"),
                ServiceRecord(priority: 10, weight: 1, port: dead, target: "localhost"),
            ])
        ])
        let records = try ServiceRecords(server: "127.0.0.1", port: dns.port)
        let options = ConnectOptions(
            host: "cluster.example", port: 1883, clientId: "srv", username: "", password: "")
        let test = try TestClient(options) {
            Self.withoutPatience(&$0)
            $0.endpoints.usesServiceRecords = true
            $0.serviceRecords = records
            $0.messageStore = store
        }
        let log = AttemptLog(test)
        try await test.connect()
        #expect(await log.targets(2) == ["localhost:\(dead)", "localhost:\(broker.port)"])
        #expect(Set(dns.asked) == ["_mqtt._tcp.cluster.example"], "the resolver asks again after 2 s")
        try await test.client.publish("hello", to: "a", qos: .one)
        test.client.subscribe(("kept", .one))
        try await test.wait(for: "subscribeSuccess")
        try await test.end()
        let home = StoreScope(clientID: "srv", broker: "cluster.example:1883")
        #expect(await store.subscriptions(in: home).count == 1)
        dns.end()
        await broker.remove()
    }

    @Test(arguments: [(identity: "elsewhere", isTrusted: true), (identity: "server", isTrusted: false)])
    func `with service records, the TLS certificate must match the domain, not the target host of the record`(
        _ testCase: (identity: String, isTrusted: Bool)
    ) async throws {
        let certificates = try await Certificates.shared
        let broker = try LoopbackBroker.start(
            on: .tcp(port: try LocalPort.free()),
            tls: try TLSContext(
                server: TLSServerConfiguration(identity: certificates.identity(testCase.identity))))
        let dns = try DNSServer([
            "_secure-mqtt._tcp.elsewhere.example": .records([
                ServiceRecord(priority: 0, weight: 1, port: broker.port, target: "localhost")
            ])
        ])
        let records = try ServiceRecords(server: "127.0.0.1", port: dns.port)
        let options = ConnectOptions(
            host: "elsewhere.example", port: 8883, clientId: "srv-%%%%%%%%", username: "", password: "")
        let test = try TestClient(options) {
            Self.withoutPatience(&$0)
            $0.tls = certificates.client
            $0.endpoints.usesServiceRecords = true
            $0.serviceRecords = records
        }
        test.client.connect()
        if testCase.isTrusted {
            try await test.client.connected()
        } else {
            try await test.wait(for: "connectionFailure")
            let error = test.events.compactMap { $0.error as? CourierError }.first
            #expect(error?.code == .secureConnectionFailed)
            #expect(error?.message.contains("elsewhere.example") == true, "\(String(describing: error))")
        }
        try await test.end()
        dns.end()
        await broker.shutdown()
    }

    @Test func `service names depend on the scheme, and IP addresses and Unix sockets have no service name`() throws {
        func name(_ host: String, _ port: UInt16 = 1883, _ scheme: String? = nil, tls: Bool = false) -> String? {
            NamedService(
                ConnectOptions(host: host, port: port, clientId: "", username: "", password: "", scheme: scheme),
                hasTLSSettings: tls)?.name
        }
        #expect(name("a.example") == "_mqtt._tcp.a.example")
        #expect(name("a.example.", 1883, "mqtt") == "_mqtt._tcp.a.example")
        #expect(name("a.example", 8883) == "_secure-mqtt._tcp.a.example")
        #expect(name("a.example", 1883, "tls") == "_secure-mqtt._tcp.a.example")
        #expect(name("a.example", tls: true) == "_secure-mqtt._tcp.a.example")
        for host in ["10.0.0.1", "::1", "[2001:db8::1]", "token@a.example", "mqtt//a"] { #expect(name(host) == nil) }
        #expect(name("/run/broker.sock", 0, "unix") == nil)
        #expect(name("a.example", 1883, "gopher") == nil)
    }

    // MARK: The configuration

    @Test func `an invalid endpoint policy throws invalidConfiguration with the option's name`() throws {
        expectCourierError(.invalidConfiguration, "endpoints.maximumCount") {
            try TestClient(.local(1)) { $0.endpoints.maximumCount = 0 }
        }
        for time in [Duration.zero, .seconds(-1), .seconds(1_000_000)] {
            expectCourierError(.invalidConfiguration, "endpoints.returnsToPreferred") {
                try TestClient(.local(1)) { $0.endpoints.returnsToPreferred = .after(time) }
            }
        }
    }
}
