import CourierCore
import CourierTesting
import CourierTransport
import MQTTCodec
import TestSupport
import Testing

@testable import CourierMQTT

/// If the host is a URL with a password, log records, events and errors hide the text before its `@`.
@Suite(.timeLimit(.minutes(5))) struct HiddenHostTests {
    private static func options(_ host: String = "mqtt://ada:hunter2@b") -> ConnectOptions {
        ConnectOptions(host: host, port: 1883, keepAlive: 0, clientId: "scripted", username: "", password: "")
    }

    /// The texts that a client has reported: log records, events and their errors.
    private static func told(_ test: TestClient, _ log: WarningLog) -> [String] {
        log.records.map(\.message) + test.events.map { "\($0)" } + test.events.compactMap(\.error).map { "\($0)" }
    }

    @Test func `the warning about stored messages of another broker hides the password in the host`() async throws {
        let log = WarningLog()
        let provider = ScriptedProvider([.options(Self.options("broker.invalid")), .options(Self.options())])
        try await ScriptedWorld.run(provider: provider) {
            $0.messageStore = MemoryMessageStore()
            $0.logHandler = log
        } _: { world in
            for _ in 0..<2 {
                await world.connect()
                await world.until { world.client.connectionState == .connected }
                world.client.disconnect()
                await world.run(for: .seconds(6))
            }
            let warnings = log.warnings.filter { $0.contains("session.storeScope") }
            #expect(warnings.count == 1)
            #expect(warnings.allSatisfy { $0.contains("<hidden>@b:1883") })
            #expect(!Self.told(world.test, log).contains { $0.contains("hunter2") })
        }
    }

    @Test func `with the app's own stream, log records and errors hide the password in the host`() async throws {
        let log = WarningLog()
        let script: [ConnectionScript] = [
            .connection([.refuse(.serverUnavailable)]), .connection([.accept(), .cut(.orderly)]),
        ]
        try await ScriptedWorld.run(script, provider: ScriptedProvider(Self.options())) {
            $0.logHandler = log
        } _: { world in
            await world.connect()
            await world.run(for: .seconds(10))
            #expect(world.client.connectionState == .connected)
            let name = "<hidden>@b:1883"
            #expect(log.records.contains { $0.message.hasPrefix("connected to \(name)") })
            for event in ["connectionFailure", "connectionLost"] {
                #expect(world.errors(of: event).map { $0.message.contains(name) } == [true])
            }
            #expect(!Self.told(world.test, log).contains { $0.contains("hunter2") })
        }
    }

    @Test func `no DNS query is sent for a host that contains a password`() async throws {
        let log = WarningLog()
        let dns = try DNSServer()
        let records = try ServiceRecords(server: "127.0.0.1", port: dns.port)
        let provider = ScriptedProvider(Self.options("hunter2@b.example"))
        let test = try TestClient(MQTTClientConfig(authService: provider)) {
            $0.endpoints.usesServiceRecords = true
            $0.serviceRecords = records
            $0.logHandler = log
        }
        test.client.connect()
        try await test.wait(for: "connectionFailure")
        #expect(dns.asked == [])
        let errors = test.events.compactMap { $0.error as? CourierError }
        #expect(errors.map(\.code) == [.invalidConfiguration])
        #expect(errors.allSatisfy { $0.message.contains("<hidden>@b.example") })
        #expect(!Self.told(test, log).contains { $0.contains("hunter2") })
        try await test.end()
        dns.end()
    }
}
