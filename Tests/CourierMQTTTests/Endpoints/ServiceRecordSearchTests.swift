import CourierCore
import CourierTesting
import Dispatch
import Testing

@testable import CourierMQTT
@testable import CourierTransport

@Suite(.timeLimit(.minutes(5))) struct ServiceRecordSearchTests {
    @Test func `a service record lookup that waits for a thread is cancelled when the client ends`() async throws {
        let resolver = HostResolver { _, _ in .success([]) }
        let gate = DispatchSemaphore(value: 0)
        await withTaskGroup(of: Void.self) { tasks in
            for _ in 0..<HostResolver.threadLimit {
                tasks.addTask {
                    await withCheckedContinuation { (continuation: CheckedContinuation<Void, Never>) in
                        resolver.perform { _ in
                            continuation.resume()
                            gate.wait()
                            gate.signal()
                        }
                    }
                }
            }
        }
        let loops = try EventLoopGroup(clock: VirtualClock())
        let records = try ServiceRecords(server: "127.0.0.1", port: 9, threads: resolver)
        let options = ConnectOptions(
            host: "cluster.example", port: 1883, clientId: "srv-%%%%%%%%", username: "", password: "")
        let test = try TestClient(options, on: loops) {
            $0.endpoints.usesServiceRecords = true
            $0.serviceRecords = records
        }
        test.client.connect()
        try await test.wait(for: "connectionServiceAuthSuccess")
        await finishRound(of: loops)
        #expect(resolver.waitingCount == 1)
        try await test.end()
        await finishRound(of: loops)
        #expect(resolver.waitingCount == 0)
        gate.signal()
        await loops.shutdown()
    }

    /// Waits until the loop has finished its current work.
    private func finishRound(of loops: EventLoopGroup) async {
        await withCheckedContinuation { (continuation: CheckedContinuation<Void, Never>) in
            loops.loops[0].execute { continuation.resume() }
        }
    }
}
