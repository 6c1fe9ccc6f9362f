import CourierCore
import CourierTesting
import Foundation
import MQTTCodec
import Testing

@testable import CourierMQTT

/// The time that `connected(timeout:)` waits, and the text of its error.
@Suite(.timeLimit(.minutes(5))) struct ScriptedConnectedTests {
    private func waiting(_ world: ScriptedWorld, _ timeout: Duration) async -> Task<Void, any Error> {
        let count = world.client.waitingCount
        let task = Task { [client = world.client] in try await client.connected(timeout: timeout) }
        await world.until { world.client.waitingCount == count + 1 }
        return task
    }

    @Test func `connected() throws timedOut after its timeout, with the last failure as the cause`() async throws {
        try await ScriptedWorld.run(afterwards: [.refuse(.serverUnavailable)]) { world in
            world.client.connect()
            let early = await waiting(world, .seconds(5))
            let late = await waiting(world, .seconds(50))
            await world.run(for: .milliseconds(4_900))
            #expect(world.client.waitingCount == 2)
            await world.run(for: .milliseconds(200))
            let error = await #expect(throws: CourierError.self) { try await early.value }
            #expect(error?.code == .timedOut)
            #expect(error?.message.hasPrefix("There was no connection within 5.0 seconds. The broker ") == true)
            #expect(error?.message.hasSuffix(" The client keeps trying.") == true)
            #expect((error?.cause as? CourierError)?.code == .connectionRefused)
            #expect(world.client.waitingCount == 1)
            late.cancel()
            await #expect(throws: CancellationError.self) { try await late.value }
            #expect(world.client.connectionState != .connected)
        }
    }

    @Test func `the timeout error of connected() says that no attempt has failed so far`() async throws {
        try await ScriptedWorld.run([.connection([.expect(.connect)])], isScriptChecked: false) { world in
            world.client.connect()
            let wait = await waiting(world, .seconds(3))
            await world.run(for: .seconds(3))
            let error = await #expect(throws: CourierError.self) { try await wait.value }
            #expect(error?.message.contains("No attempt has failed so far.") == true)
        }
    }

    @Test func `connected() returns if the client connects in time, and the timeout has no later effect`()
        async throws
    {
        try await ScriptedWorld.run([.connection([.refuse(.serverUnavailable)])]) { world in
            world.client.connect()
            let wait = await waiting(world, .seconds(5))
            await world.run(for: .seconds(2))
            try await wait.value
            try await world.client.connected(timeout: .zero)
            await world.run(for: .seconds(100))
            #expect(world.client.connectionState == .connected)
        }
    }

    @Test func `after connect() during the reconnect delay, the error of connected() still has a cause`()
        async throws
    {
        try await ScriptedWorld.run(afterwards: [.refuse(.serverUnavailable)]) { world in
            for _ in 0..<3 {
                world.client.connect()
                let wait = await waiting(world, .milliseconds(900))
                await world.run(for: .seconds(1))
                let error = await #expect(throws: CourierError.self) { try await wait.value }
                #expect(error?.cause != nil, "\(error?.message ?? "")")
            }
        }
    }
}
