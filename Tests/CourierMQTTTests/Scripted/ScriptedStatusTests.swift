import CourierCore
import CourierTesting
import Foundation
import MQTTCodec
import TestSupport
import Testing

@testable import CourierMQTT

/// The connection status, with attempts, reconnect delays and failures.
@Suite(.timeLimit(.minutes(5))) struct ScriptedStatusTests {
    /// A status in one line. The delay to the next attempt is in tenths of a second.
    private static func line(_ status: ConnectionStatus) -> String {
        let delay = status.nextAttempt.map { Int(($0.timeIntervalSince(status.since) * 10).rounded()) }
        let failure = status.failure.map { "\($0.code)" } ?? "-"
        return "\(status.state) \(status.attempt) \(delay.map { "\($0)" } ?? "-") \(failure)"
    }

    private static func record(
        _ world: ScriptedWorld, _ body: () async throws -> Void
    ) async throws -> [String] {
        let series = Series<String>()
        let sink = world.client.connectionStatusPublisher.sink { series.append(Self.line($0)) }
        try await body()
        await world.settle()
        sink.cancel()
        return series.values
    }

    @Test func `the connection status shows each attempt, its delay and the last failure`() async throws {
        let script: [ConnectionScript] = [
            .connection([.refuse(.serverUnavailable)]), .connection([.refuse(.serverBusy)]),
            .connection([.accept(), .pause(.seconds(20)), .cut(.reset)]), .connection([.accept()]),
        ]
        try await ScriptedWorld.run(script) { world in
            let lines = try await Self.record(world) {
                await world.connect()
                await world.run(for: .seconds(60))
            }
            #expect(
                lines == [
                    "disconnected 0 - -",
                    "connecting 1 - -",
                    "connecting 1 - -",  // The provider has returned the options, so the endpoint is known.
                    "disconnected 2 10 connectionRefused",
                    "connecting 2 - connectionRefused", "disconnected 3 20 connectionRefused",
                    "connecting 3 - connectionRefused", "connected 0 - -",
                    "disconnected 1 10 connectionLost",
                    "connecting 1 - connectionLost", "connected 0 - -",
                ])
            #expect(world.client.connectionStatus.endpoint == "broker.invalid:\(world.broker.port)")
        }
    }

    @Test func `after disconnect() or destroy(), the connection status has no attempt and no failure`() async throws {
        for end in [{ (client: MQTTClient) in client.disconnect() }, { $0.destroy() }] {
            try await ScriptedWorld.run(afterwards: [.refuse(.serverUnavailable)]) { world in
                await world.connect()
                await world.run(for: .milliseconds(500))
                #expect(world.client.connectionStatus.failure?.reasonCode == .serverUnavailable)
                end(world.client)
                await world.settle()
                let status = world.client.connectionStatus
                #expect(Self.line(status) == "disconnected 0 - -")
                let lines = try await Self.record(world) { await world.connect() }
                #expect(lines.first { $0.hasPrefix("connecting") } == "connecting 1 - -")
            }
        }
    }

    @Test func `after the client has stopped reconnecting, the connection status still shows the failure`()
        async throws
    {
        try await ScriptedWorld.run(afterwards: [.refuse(.notAuthorized)]) {
            $0.reconnect.whenRefused = .stop
        } _: { world in
            await world.connect()
            await world.run(for: .seconds(60))
            let status = world.client.connectionStatus
            #expect(status.state == .disconnected && status.attempt == 0 && status.nextAttempt == nil)
            #expect(status.failure?.reasonCode == .notAuthorized)
            #expect("\(status)".hasPrefix("disconnected, broker.invalid:"))
        }
    }

    @Test func `the connection status of a misconfigured client shows invalidConfiguration`() throws {
        var config = MQTTClientConfig(options: .local(1))
        config.limits.receiveMaximum = 0
        config.logHandler = nil
        let client = CourierClientFactory().makeMQTTClient(config: config)
        #expect(client.connectionStatus.failure?.code == .invalidConfiguration)
    }

    @Test func `the statuses sequence ends when the client is released`() async throws {
        var test: TestClient? = try TestClient(.local(1))
        let statuses = test?.client.statuses
        let reading = Task {
            var count = 0
            if let statuses { for await _ in statuses { count += 1 } }
            return count
        }
        test = nil
        #expect(await reading.value >= 1)
    }

    @Test func `the description of a connection status shows the attempt, endpoint, delay and failure`() {
        let failure = CourierError(.connectionRefused, "The broker is busy.")
        let status = ConnectionStatus(
            .disconnected, endpoint: "broker.example:1883", attempt: 3, failure: failure)
        var planned = status
        planned.nextAttempt = status.since.addingTimeInterval(3.2)
        #expect("\(planned)" == "disconnected, attempt 3, broker.example:1883, in 4 s: The broker is busy.")
        #expect("\(ConnectionStatus(.connected))" == "connected")
    }
}
