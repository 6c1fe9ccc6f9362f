import CourierCore
import CourierTesting
import MQTTCodec
import Testing

@testable import CourierMQTT

/// `readyToPublish()` returns at once if one more message would be accepted. After a refused message, it waits for
/// room.
@Suite(.timeLimit(.minutes(5))) struct ReadyToPublishTests {
    private static let endless = Array(repeating: ConnectionScript.connection([.expect(.connect), .stall]), count: 9)
    private static let refusing = [ConnectionScript.connection([.refuse(.serverUnavailable)])]

    /// Calls `readyToPublish()` in a task. The box contains the result.
    private static func ask(_ world: ScriptedWorld) -> Box<Bool> {
        let isReady = Box<Bool>()
        Task { [client = world.client] in
            try await client.readyToPublish()
            isReady.value = true
        }
        return isReady
    }

    @Test(arguments: [false, true])
    func `readyToPublish() returns at once while there is room for one more message`(hasStore: Bool) async throws {
        try await ScriptedWorld.run(Self.endless) {
            $0.offline.maximumCount = 4
            if hasStore { $0.messageStore = ControlledStore() }
        } _: { world in
            await world.connect()
            for text in ["0", "1", "2"] { try await world.client.enqueue(text, to: "t") }
            let isReady = Self.ask(world)
            await world.until { isReady.value == true }
        }
    }

    @Test func `readyToPublish() returns at once if only the store is full, even after enqueue() threw storeFull`()
        async throws
    {
        try await ScriptedWorld.run(Self.endless) {
            $0.messageStore = MemoryMessageStore(maximumRows: 1)
        } _: { world in
            await world.connect()
            try await world.client.enqueue("0", to: "t")
            for _ in 0..<2 {
                let error = await #expect(throws: CourierError.self) { try await world.client.enqueue("1", to: "t") }
                #expect(error?.code == .storeFull)
                let isReady = Self.ask(world)
                await world.until { isReady.value == true }
            }
        }
    }

    @Test
    func `if a message is refused, only the first readyToPublish() call waits for the room that the message needs`()
        async throws
    {
        try await ScriptedWorld.run(Self.refusing) {
            $0.offline = OfflinePolicy(maximumBytes: 100, overflow: .fail)
        } _: { world in
            await world.connect()
            let text = String(repeating: "x", count: 60)
            try world.publish(text)
            #expect(throws: CourierError.self) { try world.publish(text) }
            let isReady = Self.ask(world)
            await world.until { world.client.waitingCount == 1 }
            let isReadyForLess = Self.ask(world)
            await world.until { isReadyForLess.value == true }
            #expect(isReady.value == nil)
            await world.run(for: .seconds(1))
            await world.until { isReady.value == true }
            try world.publish(text)
        }
    }

    @Test func `after a message without persistence is refused, readyToPublish() waits for room in memory`()
        async throws
    {
        try await ScriptedWorld.run(Self.refusing) {
            $0.offline = OfflinePolicy(maximumCount: 2, overflow: .fail)
            $0.messageStore = ControlledStore()
        } _: { world in
            await world.connect()
            for text in ["0", "1"] { try world.publish(text, qos: .oneWithoutPersistenceAndRetry) }
            #expect(throws: CourierError.self) { try world.publish("2", qos: .oneWithoutPersistenceAndRetry) }
            let isReady = Self.ask(world)
            await world.until { world.client.waitingCount == 1 }
            await world.run(for: .seconds(1))
            await world.until { isReady.value == true }
        }
    }
}
