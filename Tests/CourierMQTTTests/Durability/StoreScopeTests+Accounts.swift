import CourierCore
import CourierTesting
import CourierTransport
import Foundation
import Testing

@testable import CourierMQTT

/// Two accounts that use the same client, one after the other.
extension StoreScopeTests {
    private static func row(_ id: UInt64, _ text: String) -> StoreChange {
        .keep(
            StoredMessage(
                id: StoredMessage.ID(rawValue: id), topic: "t", payload: Array(text.utf8), qos: .one,
                storedAt: Date()))
    }

    /// True if readers have received all stored rows of the session.
    private static func areRowsHandedOut(_ world: ScriptedWorld) async -> Bool {
        await withCheckedContinuation { (answer: CheckedContinuation<Bool, Never>) in
            world.loop.execute {
                let session = world.client.parts.coordinator.durable
                let areGiven = session.map { $0.isOpen && !$0.inbox.isReading && !$0.inbox.hasRows }
                answer.resume(returning: areGiven ?? false)
            }
        }
    }

    @Test func `a loop that reads messages of a destroyed session removes no stored message of the next client id`()
        async throws
    {
        let other = Self.options(id: "other")
        try await Self.run([], [.options(), .options(other)]) {
            $0.session.storeScope = nil
        } _: { world, store in
            let (old, next) = (StoreScope(Self.options()), StoreScope(other))
            try await store.memory.fill([Self.row(1, "old 1"), Self.row(2, "old 2")], old)
            try await store.memory.fill([Self.row(1, "new 1"), Self.row(2, "new 2")], next)
            do {
                var messages = world.client.messages(Message.self, from: "t", acknowledge: .afterProcessing)
                    .makeAsyncIterator()
                await world.connect()
                await world.until { world.client.connectionState == .connected }
                #expect(try await messages.next()?.payloadString == "old 1")
                world.client.destroy()
                await world.run(for: .seconds(6))
                await world.connect()
                await world.until { await Self.areRowsHandedOut(world) }
                #expect(try await messages.next()?.payloadString == "old 2")  // "old 1" is done.
            }
            await world.settle()
            #expect(!store.changes.contains { if case .removeIncoming = $0 { true } else { false } })
            let left = await store.memory.incoming(in: next, matching: nil, after: nil, limit: 10)
            #expect(left.map(\.id.rawValue) == [1, 2])
        }
    }

    private static func isOpen(_ world: ScriptedWorld) async -> Bool? {
        await withCheckedContinuation { (answer: CheckedContinuation<Bool?, Never>) in
            world.loop.execute { answer.resume(returning: world.client.parts.coordinator.durable?.isOpen) }
        }
    }

    @Test func `after destroy() during a connection attempt, the stored session is not opened before connect()`()
        async throws
    {
        let other = Self.options(id: "other")
        try await Self.run([], [.options(), .options(other)]) {
            $0.session.storeScope = nil
        } _: { world, store in
            store.holdReads()
            await world.connect()
            await world.until { store.heldReadCount > 0 }
            world.client.disconnect()
            await world.settle()
            await world.connect()
            await world.settle()
            world.client.destroy()
            await world.settle()
            store.letReadsPass()
            while store.heldReadCount > 0 { store.releaseRead() }
            await world.settle()
            #expect(await Self.isOpen(world) == false)
            await world.connect()
            await world.until { world.client.connectionState == .connected }
            #expect(await Self.isOpen(world) == true)
        }
    }
}
