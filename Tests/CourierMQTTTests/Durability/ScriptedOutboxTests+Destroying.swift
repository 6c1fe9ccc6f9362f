import CourierCore
import CourierTesting
import CourierTransport
import Dispatch
import Foundation
import MQTTCodec
import Synchronization
import TestSupport
import Testing

@testable import CourierMQTT

/// The effect of `destroy()` on messages that are stored or wait for the store.
extension ScriptedOutboxTests {
    @Test func `destroy() removes all stored messages and subscriptions, including subscriptions of the topics option`()
        async throws
    {
        try await Self.run(Self.refusing) {
            $0.topics = ["a": .one]
        } _: { world, store in
            await world.connect()
            try await world.client.enqueue("x", to: "t")
            await world.until { await store.memory.subscriptions(in: world.scope).count == 1 }
            world.client.destroy()
            await world.until { store.changes.contains(.removeAll) }
            await world.settle()
            #expect(await store.memory.summary(of: world.scope).outgoingCount == 0)
            #expect(await store.memory.subscriptions(in: world.scope).isEmpty)
        }
    }

    @Test func `a store change that fails after destroy() is not repeated in the next session`() async throws {
        try await Self.run { world, store in
            await Self.connect(world, store)
            store.fail { if case .removeOutgoing = $0 { CourierError(.storeFailed, "Too late.") } else { nil } }
            let outcome = try world.publish("x")
            await world.until { outcome.value != nil && world.events.contains("messageStoreFailure") }
            store.hold()
            await world.run(for: .seconds(1))
            await world.until { store.heldCount > 0 }
            world.client.destroy()
            await world.settle()
            store.release()
            await world.until { store.changes.contains(.removeAll) }
            store.fail(nil)
            let count = store.changes.count
            await world.connect()
            await world.run(for: .seconds(3))
            #expect(!store.changes.dropFirst(count).contains(.removeOutgoing(StoredMessage.ID(rawValue: 1))))
        }
    }

    @Test func `messages that the store refuses during destroy() are not stored in the next session`() async throws {
        try await Self.run(Self.refusing) { world, store in
            await world.connect()
            try await world.client.enqueue("in the store", to: "t")
            store.hold()
            // The first message has its own commit. The next commit has the other two messages.
            for text in ["a", "b", "c"] { try world.publish(text) }
            await world.until { store.heldCount == 1 }
            store.fail { $0.isEnqueue ? CourierError(.storeFull, "No room.") : nil }
            let refused = store.changes.count
            store.release(holdingNext: true)
            await world.until { store.heldCount == 1 }
            world.client.destroy()
            await world.connect()  // The next session has the same store scope.
            store.release()
            store.fail(nil)
            await world.until { store.changes.contains(.removeAll) }
            await world.settle()
            #expect(store.changes.dropFirst(refused).filter(\.isEnqueue).isEmpty)
            #expect(await store.memory.summary(of: world.scope).outgoingCount == 0)
        }
    }

    @Test func `after destroy(), messages that wait for the store fail, and are not sent in the next session`()
        async throws
    {
        try await Self.run { world, store in
            await Self.connect(world, store)
            store.hold()
            // The first message is in a commit. The second message waits for the next commit.
            let first = try world.publish("a")
            await world.until { store.heldCount == 1 }
            let second = try world.publish("b")
            world.client.destroy()
            await world.connect()
            let third = try world.publish("c")
            await world.settle()
            store.release()
            await world.until { third.value != nil }
            #expect(first.value?.failure?.code == .clientDestroyed)
            #expect(second.value?.failure?.code == .clientDestroyed)
            #expect(third.value?.success != nil)
            #expect(await world.publishes().map(\.text) == ["c"])
            await world.until { await store.memory.summary(of: world.scope).outgoingCount == 0 }
        }
    }

    @Test func `if publish() waits for room because of a slow store, destroy() makes publish() throw clientDestroyed`()
        async throws
    {
        try await Self.run(Self.refusing) {
            $0.offline = OfflinePolicy(maximumCount: 2)
        } _: { world, store in
            await world.connect()
            store.hold()
            // The first message is in a commit. The second message waits for the next commit. The third message has
            // no room.
            try world.publish("a")
            await world.until { store.heldCount == 1 }
            try world.publish("b")
            let outcome = Box<Result<PublishReceipt, any Error>>()
            let task = Task { [client = world.client] in
                do {
                    outcome.value = .success(try await client.publish("c", to: "t"))
                } catch {
                    outcome.value = .failure(error)
                }
            }
            await world.until { world.client.waitingCount == 1 }
            world.client.destroy()
            await world.until { outcome.value != nil }
            #expect((outcome.value?.failure as? CourierError)?.code == .clientDestroyed)
            task.cancel()
            store.release()
        }
    }

    @Test func `a message that is stored just before destroy() is not sent in the next session`() async throws {
        try await Self.run { world, store in
            await Self.connect(world, store)
            store.hold()
            let outcome = try world.publish("a")
            await world.until { store.heldCount == 1 }
            let (client, scope) = (world.client, world.scope)
            world.loop.execute {
                // This block keeps the loop busy until the commit is complete and the session is destroyed.
                store.release()
                let isTold = DispatchSemaphore(value: 0)
                // The store calls completions in the order of the commits.
                store.memory.commit([], in: scope) { _ in isTold.signal() }
                isTold.wait()
                client.destroy()
            }
            await world.until { outcome.value != nil }
            #expect(outcome.value?.failure?.code == .clientDestroyed)
            await world.connect()
            try await world.client.enqueue("b", to: "t")
            await world.until { await store.memory.summary(of: world.scope).outgoingCount == 0 }
            #expect(await world.publishes().map(\.text) == ["b"])
        }
    }

    @Test func `messages read from the store for a destroyed session are not sent in the next session`() async throws {
        try await Self.run(Self.refusing + [.connection([.accept()])] + Self.refusing) {
            $0.storedMessagesInMemory = 1
        } _: { world, store in
            for (session, texts) in [["a", "b"], ["c", "d"]].enumerated() {
                await world.connect()
                for text in texts { try await world.client.enqueue(text, to: "t") }
                // The second message is on disk only. It is read when the first message is sent.
                store.holdReads()
                await world.run(for: .seconds(1))
                await world.until { store.heldReadCount == session + 1 }
                store.letReadsPass()
                if session == 0 { world.client.destroy() }
            }
            let count = await world.publishes().count
            store.releaseRead()
            store.releaseRead()
            await world.until { await store.memory.summary(of: world.scope).outgoingCount == 0 }
            #expect(count == 2)
            #expect(await world.publishes().map(\.text) == ["a", "c", "d"])
        }
    }

    @Test func `after two destroy() calls, no message is stored before both calls have completed`() async throws {
        try await Self.run { world, store in
            await Self.connect(world, store)
            let (client, parts) = (world.client, world.client.parts)
            // The second destroy() call is simulated only up to the point that the first call has reached.
            world.loop.execute {
                client.destroy()
                let publishing = parts.publishing
                publishing.report(publishing.queue.destroy(), ClientCoordinator.destroyed)
                client.connect()
            }
            await world.until { await world.broker.connections.count == 2 }
            let outcome = try world.publish("a")
            await world.settle()
            #expect(!store.changes.contains { $0.isEnqueue })
            world.loop.execute {
                parts.coordinator.tell(.destroyRequested)
                client.connect()
            }
            await world.until { outcome.value != nil }
            #expect(outcome.value?.success != nil)
            #expect(await world.publishes(on: 3).map(\.text) == ["a"])
        }
    }

    @Test func `destroy() during the first read of the store removes the messages of an earlier process`() async throws
    {
        try await Self.run { world, store in
            try await store.memory.fill([.enqueue(Self.message(1, "old"))], world.scope)
            store.holdReads()
            await world.connect()
            // The client reads the summary first, and then the message.
            await world.until { store.heldReadCount == 1 }
            store.releaseRead()
            await world.until { store.heldReadCount == 1 }
            world.client.destroy()
            await world.until { store.changes.contains(.removeAll) }
            store.letReadsPass()
            store.releaseRead()
            await world.settle()
            await world.connect()
            await world.until { world.client.connectionState == .connected }
            try await world.client.enqueue("new", to: "t")
            await world.until { await store.memory.summary(of: world.scope).outgoingCount == 0 }
            #expect(await world.publishes().map(\.text) == ["new"])
            #expect(!world.events.contains("messageStoreFailure"))
        }
    }
}
