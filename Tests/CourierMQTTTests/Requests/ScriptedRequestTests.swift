import CourierCore
import CourierTesting
import MQTTCodec
import Testing

@testable import CourierMQTT

/// Questions over connections that come and go, and brokers that are silent.
@Suite(.timeLimit(.minutes(5))) struct ScriptedRequestTests {
    /// Asks, with five seconds for the answer.
    private static func ask(_ world: ScriptedWorld) -> Task<String, any Error> {
        Task { [client = world.client] in try await client.request("?", to: "q", timeout: .seconds(5)) }
    }

    private static func questions(_ world: ScriptedWorld) async -> [Publish] {
        await world.publishes().filter { $0.topic == "q" }
    }

    /// Nobody waits for anything.
    private static func expectNothingLeft(
        _ world: ScriptedWorld, sourceLocation: SourceLocation = #_sourceLocation
    ) async {
        await world.settle()
        #expect(world.client.waitingCount == 0, sourceLocation: sourceLocation)
        #expect(world.client.requests.waitingCount == 0, sourceLocation: sourceLocation)
        let waiting = Box<Int>()
        world.loop.execute { waiting.value = world.client.parts.coordinator.subscriptions.waitingCount }
        await world.settle()
        #expect(waiting.value == 0, sourceLocation: sourceLocation)
    }

    // MARK: Time

    /// Where a call may get stuck.
    enum Silence: CaseIterable {
        case noConnection
        case noSubAck
        case noPubAck
        case lostAfterPublish
        case noAnswer

        fileprivate var script: ConnectionScript {
            switch self {
            case .noConnection: .connection([.expect(.connect), .stall])
            case .noSubAck: .connection([.accept(), .serve(until: .subscribe), .stall])
            case .noPubAck: .connection([.accept(), .fault(.drop(.pubAck, count: .max))])
            case .lostAfterPublish: .connection([.accept(), .serve(until: .publish(to: "q")), .cut(.reset)])
            case .noAnswer: .connection([.accept()])
            }
        }

        fileprivate func isReached(_ world: ScriptedWorld) async -> Bool {
            switch self {
            case .noConnection: world.client.waitingCount == 2
            case .noSubAck: await !world.broker.packets(.subscribe).isEmpty
            case .noPubAck: await !ScriptedRequestTests.questions(world).isEmpty
            case .lostAfterPublish: world.client.connectionState == .disconnected && world.client.waitingCount == 2
            case .noAnswer: world.events.contains("messageSendSuccess") && world.client.waitingCount == 1
            }
        }
    }

    @Test(arguments: Silence.allCases)
    func `a request ends at its timeout, wherever it got stuck, and leaves nothing behind`(
        _ silence: Silence
    ) async throws {
        try await ScriptedWorld.run([silence.script], afterwards: [.expect(.connect), .stall]) { world in
            await world.connect()
            let asking = Self.ask(world)
            await world.until { await silence.isReached(world) }
            await world.run(for: .milliseconds(4_999))
            #expect(world.client.requests.waitingCount == 1)
            await world.run(for: .milliseconds(1))
            let error = await asking.result.failure as? CourierError
            #expect(error?.code == .timedOut)
            #expect(error?.message.contains("\"q\"") == true)
            await Self.expectNothingLeft(world)
        }
    }

    @Test func `the question expires with the call, however long it has waited for the connection`() async throws {
        try await ScriptedWorld.run([.connection([.refuse(.serverUnavailable)])]) { world in
            await world.connect()
            let asking = Self.ask(world)
            await world.until { world.client.waitingCount == 2 }
            await world.run(for: .seconds(1))
            await world.until { await !Self.questions(world).isEmpty }
            #expect(await Self.questions(world).map(\.properties.messageExpiryInterval) == [4])
            await world.run(for: .seconds(4))
            #expect((await asking.result.failure as? CourierError)?.code == .timedOut)
        }
    }

    @Test(arguments: Silence.allCases)
    func `a cancelled request ends at once, and leaves nothing behind`(_ silence: Silence) async throws {
        try await ScriptedWorld.run([silence.script], afterwards: [.expect(.connect), .stall]) { world in
            await world.connect()
            let asking = Self.ask(world)
            await world.until { await silence.isReached(world) }
            asking.cancel()
            await #expect(throws: CancellationError.self) { try await asking.value }
            await Self.expectNothingLeft(world)
        }
    }
}
