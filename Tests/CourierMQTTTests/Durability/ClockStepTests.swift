import CourierCore
import CourierTesting
import Foundation
import MQTTCodec
import TestSupport
import Testing

@testable import CourierMQTT

/// Changes of the system date do not change how long received messages are kept.
@Suite(.timeLimit(.minutes(5))) struct ClockStepTests {
    private static let start = Date(timeIntervalSinceReferenceDate: 800_000_000)
    private static let boot = UUID()
    private static let lifetime = Duration.seconds(1_000)

    /// A date that stands still until a test sets it.
    private static func run(
        _ store: ControlledStore?, bootID: UUID? = boot, script: [ConnectionScript] = [],
        _ body: (ScriptedWorld, _ date: Box<Date>) async throws -> Void
    ) async throws {
        let date = Box<Date>()
        date.value = start
        try await ScriptedWorld.run(script) {
            $0.messageStore = store
            $0.storeClock = StoreClock(bootID: bootID, date: { date.value ?? start })
            $0.messagePersistenceTTLSeconds = lifetime / .seconds(1)
            $0.messageCleanupInterval = 5
        } _: { world in
            try await body(world, date)
        }
    }

    private static let script: [ConnectionScript] = [
        .connection([
            .accept(), .serve(until: .publish(to: "go")),
            .send(
                .publish(Publish(topic: "t", payload: Array("a".utf8), delivery: .atLeastOnce(1, isDuplicate: false)))),
        ])
    ]

    /// Lets the broker send a message that has no reader.
    private static func receive(_ world: ScriptedWorld, _ store: ControlledStore?) async throws {
        await world.connect()
        await world.until { world.client.connectionState == .connected }
        try world.publish("", to: "go", qos: .zero)
        await world.settle()
        if let store { await world.until { await count(world, store) == 1 } }
    }

    private static func count(_ world: ScriptedWorld, _ store: ControlledStore) async -> Int {
        await store.memory.summary(of: world.scope).incomingCount
    }

    /// Returns the messages that a new reader receives.
    private static func texts(_ world: ScriptedWorld) async -> [String] {
        let received = Series<String>()
        let sink = world.client.messagePublisher(topic: "t").sink { (text: String) in received.append(text) }
        await world.run(for: .seconds(1))
        for _ in 0..<20 { await world.settle() }
        sink.cancel()
        return received.values
    }

    @Test(arguments: [true, false], [-7_200, 0, 7_200] as [TimeInterval])
    func `a message without a reader is available until its lifetime ends, even if the system date changes`(
        _ hasStore: Bool, _ step: TimeInterval
    ) async throws {
        let store = hasStore ? ControlledStore() : nil
        try await Self.run(store, script: Self.script) { world, date in
            try await Self.receive(world, store)
            date.value = Self.start + step
            await world.run(for: .seconds(980))
            if let store { await world.until { await Self.count(world, store) == 1 } }
            #expect(await Self.texts(world) == ["a"])
        }
    }

    @Test(arguments: [true, false], [-7_200, 0, 7_200] as [TimeInterval])
    func `a message without a reader is removed when its lifetime ends, even if the system date changes`(
        _ hasStore: Bool, _ step: TimeInterval
    ) async throws {
        let store = hasStore ? ControlledStore() : nil
        try await Self.run(store, script: Self.script) { world, date in
            try await Self.receive(world, store)
            date.value = Self.start + step
            await world.run(for: .seconds(1_010))
            if let store { await world.until { await Self.count(world, store) == 0 } }
            #expect(await Self.texts(world).isEmpty)
        }
    }

    @Test func `an unread message of an ended reader is removed after its lifetime, even if the system date changes`()
        async throws
    {
        let store = ControlledStore()
        try await Self.run(store, script: Self.script) { world, date in
            await world.connect()
            await world.until { world.client.connectionState == .connected }
            let reader = world.client.messages(Message.self, from: "t").makeAsyncIterator()
            try world.publish("", to: "go", qos: .zero)
            await world.settle()
            withExtendedLifetime(reader) {}
            _ = consume reader
            await world.until { await Self.count(world, store) == 1 }
            date.value = Self.start + 7_200
            await world.run(for: .seconds(900))
            await world.until { await Self.count(world, store) == 1 }
            await world.run(for: .seconds(200))
            await world.until { await Self.count(world, store) == 0 }
        }
    }

    /// A message that an earlier process stored.
    private static func row(_ world: ScriptedWorld, _ bootID: UUID?, ago: Duration, storedAt: Date) -> StoreChange {
        .keep(
            StoredMessage(
                id: StoredMessage.ID(rawValue: 1), topic: "t", payload: Array("a".utf8), qos: .one, storedAt: storedAt,
                expiresAt: storedAt + lifetime / .seconds(1),
                bootTime: BootTime(world.clock.start - ago, bootID: bootID)))
    }

    @Test(arguments: [-7_200, 0, 7_200] as [TimeInterval])
    func `without a reboot, a message of an earlier process expires after its remaining lifetime`(
        _ step: TimeInterval
    ) async throws {
        let store = ControlledStore()
        try await Self.run(store) { world, _ in
            // The date has changed since the message was stored.
            let storedAt = Self.start - 500 - step
            try await store.memory.fill(
                [Self.row(world, Self.boot, ago: .seconds(500), storedAt: storedAt)], world.scope)
            await world.connect()
            await world.until { world.client.connectionState == .connected }
            await world.run(for: .seconds(480))
            await world.until { await Self.count(world, store) == 1 }
            await world.run(for: .seconds(40))
            await world.until { await Self.count(world, store) == 0 }
        }
    }

    @Test(arguments: [(500, 480), (-86_400, 980)] as [(ago: TimeInterval, rest: Int)])
    func `a message stored before a reboot expires by its stored date, or counts as new if the date is in the future`(
        _ ago: TimeInterval, _ rest: Int
    ) async throws {
        let store = ControlledStore()
        try await Self.run(store) { world, date in
            let row = Self.row(world, UUID(), ago: .seconds(1 << 30), storedAt: Self.start - ago)
            try await store.memory.fill([row], world.scope)
            await world.connect()
            await world.until { world.client.connectionState == .connected }
            date.value = Self.start + TimeInterval(rest) + min(ago, 0)
            await world.run(for: .seconds(rest))
            await world.until { await Self.count(world, store) == 1 }
            date.value = Self.start - ago + 1_001
            await world.run(for: .seconds(10))
            await world.until { await Self.count(world, store) == 0 }
        }
    }
}
