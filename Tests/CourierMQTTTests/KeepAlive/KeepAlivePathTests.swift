import CourierCore
import CourierTesting
import CourierTransport
import Foundation
import Synchronization
import TestSupport
import Testing

@testable import CourierMQTT

/// A client with an adaptive keep-alive over real sockets, in real time, through middleboxes that forget idle
/// connections.
///
/// If a timer fires late, the time without traffic is longer than the client's interval. Then the path may forget a
/// connection that it would have kept. So the results are compared with the times that the path has recorded.
@Suite(.timeLimit(.minutes(5))) struct KeepAlivePathTests {
    /// The newest keep-alive memory that a client has reported.
    private final class Store: Sendable {
        let memory = Mutex(KeepAliveMemory())

        func keepAlive(upTo maximum: Duration, step: Duration) -> AdaptiveKeepAlive {
            var keepAlive = AdaptiveKeepAlive(minimumInterval: step, maximumInterval: maximum, step: step)
            keepAlive.memoryChanged = { [self] memory in self.memory.withLock { $0 = memory } }
            return keepAlive
        }

        var finding: KeepAliveMemory.Finding? { memory.withLock { $0.findings.last } }
    }

    /// Detects a lost connection after two seconds, instead of the ten seconds of the PINGRESP timeout.
    private func hurry(_ config: inout MQTTClientConfig) {
        config.idleActivityTimeoutPolicy = IdleActivityTimeoutPolicy(
            isEnabled: true, inactivityTimeout: 2, readTimeout: 20)
    }

    /// Waits for a connection loss, and then for three answered pings on a later connection.
    private func settle(_ test: TestClient) async throws {
        try await test.wait("for three pongs after a loss") { events in
            guard let loss = events.lastIndex(where: { $0.name == "connectionLost" }) else { return false }
            return events[loss...].count { $0.name == "pongReceived" } >= 3
        }
    }

    @Test(arguments: [ForgetfulPath.Manner.drops, .resets, .closes])
    func `behind a proxy that forgets idle connections, the ping interval settles below the limit of the proxy`(
        _ manner: ForgetfulPath.Manner
    ) async throws {
        let broker = try await RealBroker()
        let loop = try EventLoop(name: "path")
        let path = ForgetfulPath(limit: .milliseconds(1_000), manner)
        let port = try LocalPort.free()
        try path.listen(port: port, to: broker.endpoint, on: loop)
        var found: KeepAliveMemory.Finding?
        // If the machine stops for seconds, a PINGRESP may be late although the path has not dropped it. The client
        // then uses an interval below the limit of the path. So another client repeats the search.
        for _ in 0..<5 where path.fatalSilences.isEmpty {
            let store = Store()
            let test = try TestClient(.local(port)) { config in
                config.session.adaptiveKeepAlive = store.keepAlive(upTo: .seconds(4), step: .milliseconds(400))
                hurry(&config)
            }
            try await test.connect()
            try await settle(test)
            found = store.finding
            try await test.end()
        }
        let finding = try #require(found)
        #expect(!path.fatalSilences.isEmpty)
        #expect(finding.failedInterval != nil)
        // The time without traffic is at least the interval.
        #expect(finding.interval <= .milliseconds(1_000))
        // The loop reads the clock once for all its pending work, so the measured time may be a little too short.
        #expect(finding.interval <= max(path.longestSurvived + .milliseconds(100), .milliseconds(400)))
        await loop.shutdown()
        await broker.remove()
    }

    @Test(.enabled(NetworkLab.requirement) { try await NetworkLab.isPossible() })
    func `behind a kernel NAT, the ping interval settles below the NAT's timeout`() async throws {
        let lab = try await NetworkLab(timeout: 2)
        let broker = try await withCheckedThrowingContinuation { continuation in
            lab.server.execute {
                // A listener belongs to the namespace of the thread that creates it.
                continuation.resume(
                    with: Result { try LoopbackBroker.start(on: .tcp(host: NetworkLab.serverAddress)) })
            }
        }
        let options = ConnectOptions(
            host: NetworkLab.serverAddress, port: broker.port, clientId: "lab-%%%%%%%%", username: "", password: "")
        let store = Store()
        let test = try TestClient(options, on: lab.client) { config in
            config.session.adaptiveKeepAlive = store.keepAlive(upTo: .seconds(8), step: .milliseconds(800))
            hurry(&config)
        }
        try await test.connect()
        try await settle(test)
        let finding = try #require(store.finding)
        #expect(finding.network.hasPrefix("lan0 via 10.0.0.1 at "))
        #expect(finding.interval <= .seconds(2))
        let failed = try #require(finding.failedInterval)
        #expect(failed > finding.interval || finding.interval == .milliseconds(800))
        try await test.end()
        await broker.shutdown()
        await lab.shutdown()
    }
}
