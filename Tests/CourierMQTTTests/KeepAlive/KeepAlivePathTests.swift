import CourierCore
import CourierTesting
import CourierTransport
import Foundation
import Synchronization
import TestSupport
import Testing

@testable import CourierMQTT

/// The client with an adaptive keep-alive over real sockets, in real time, through middleboxes that forget.
///
/// When a timer fires late, a silence is longer than the client wants, and the path may forget what it would have kept.
/// So what was found out is measured by what the path has seen, and not by what a quick machine would have made of it.
@Suite(.timeLimit(.minutes(5))) struct KeepAlivePathTests {
    /// The newest memory that a client has handed over.
    private final class Store: Sendable {
        let memory = Mutex(KeepAliveMemory())

        func keepAlive(upTo maximum: Duration, step: Duration) -> AdaptiveKeepAlive {
            var keepAlive = AdaptiveKeepAlive(minimumInterval: step, maximumInterval: maximum, step: step)
            keepAlive.memoryChanged = { [self] memory in self.memory.withLock { $0 = memory } }
            return keepAlive
        }

        var finding: KeepAliveMemory.Finding? { memory.withLock { $0.findings.last } }
    }

    /// Has silence noticed after two seconds, and not only after the ten that a PINGRESP has.
    private func hurry(_ config: inout MQTTClientConfig) {
        config.idleActivityTimeoutPolicy = IdleActivityTimeoutPolicy(
            isEnabled: true, inactivityTimeout: 2, readTimeout: 20)
    }

    /// Waits until a silence was too long, and three on a later connection were not.
    private func settle(_ test: TestClient) async throws {
        try await test.wait("for three pongs after a loss") { events in
            guard let loss = events.lastIndex(where: { $0.name == "connectionLost" }) else { return false }
            return events[loss...].count { $0.name == "pongReceived" } >= 3
        }
    }

    @Test(arguments: [ForgetfulPath.Manner.drops, .resets, .closes])
    func `through a proxy that forgets idle connections, the ping interval settles below the proxy's limit`(
        _ manner: ForgetfulPath.Manner
    ) async throws {
        let broker = try await RealBroker()
        let loop = try EventLoop(name: "path")
        let path = ForgetfulPath(limit: .milliseconds(1_000), manner)
        let port = try LocalPort.free()
        try path.listen(port: port, to: broker.endpoint, on: loop)
        var found: KeepAliveMemory.Finding?
        // When the machine stands still for seconds, a PINGRESP is missed that the path has not lost, and the client
        // stays below what it takes for the limit: another client has to find it.
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
        // A silence is as long as its interval, or longer.
        #expect(finding.interval <= .milliseconds(1_000))
        // A loop looks at the clock once for all that it finds to do, so it may take a moment for an earlier one.
        #expect(finding.interval <= max(path.longestSurvived + .milliseconds(100), .milliseconds(400)))
        await loop.shutdown()
        await broker.remove()
    }

    @Test(.enabled(NetworkLab.requirement) { try await NetworkLab.isPossible() })
    func `behind a kernel NAT, the ping interval settles below the NAT's timeout`() async throws {
        let lab = try await NetworkLab(timeout: 2)
        let broker = try await withCheckedThrowingContinuation { continuation in
            lab.server.execute {
                // What listens belongs to the namespace of the thread that made it.
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
