import CourierCore
import CourierTesting
import CourierTransport
import Foundation
import Synchronization
import TestSupport
import Testing

@testable import CourierMQTT

@Suite(.timeLimit(.minutes(5))) struct StoreCommitQueueTests {
    private static let scope = StoreScope(clientID: "a", broker: "b:1")
    private static let changes = (1...3).map { StoreChange.removeOutgoing(StoredMessage.ID(rawValue: $0)) }

    /// A batch that another queue commits. Used on the loop only.
    private final class Kept: Sendable {
        let batch = Mutex<StoreCommitQueue.Batch?>(nil)
        /// The queue that counts sessions.
        let queue = OutgoingQueue(OfflinePolicy(), hasStore: true)

        /// Ends the session, as a client does for `destroy()`.
        func endSession(_ lane: StoreCommitQueue, _ message: String) {
            _ = queue.destroy()
            queue.endedSession()
            lane.removeAll(CourierError(.clientDestroyed, message))
        }
    }

    /// Runs `body` on the loop of a lane. Returns after a few more turns of the loop.
    private static func onLoop(_ loop: EventLoop, _ body: @escaping @Sendable () -> Void) async {
        await withCheckedContinuation { done in
            loop.execute {
                body()
                loop.execute { loop.execute { loop.execute { done.resume() } } }
            }
        }
    }

    /// Waits until the store has these changes. The time limit of the test ends the wait.
    private static func expect(_ changes: [StoreChange], in store: ControlledStore, _ loop: EventLoop) async {
        while store.changes.count < changes.count { await onLoop(loop) {} }
        #expect(store.changes == changes)
    }

    /// Waits for this number of attempted commits.
    private static func expect(
        attempts: Int, of store: ControlledStore, _ clock: VirtualClock, _ loop: EventLoop
    ) async {
        while store.attemptCount < attempts { await clock.settle(loop) }
        await clock.settle(loop)
        #expect(store.attemptCount == attempts)
    }

    private static func run(
        _ body: (StoreCommitQueue, ControlledStore, EventLoop, Kept) async throws -> Void
    ) async throws {
        let loop = try EventLoop(name: "lane")
        let store = ControlledStore()
        let kept = Kept()
        let epoch = { kept.queue.sessionEpoch }
        let lane = StoreCommitQueue(store, on: loop, epoch: epoch) { _ in Issue.record("the store failed") }
        await onLoop(loop) { lane.begin(scope) }
        try await body(lane, store, loop, kept)
        await loop.shutdown()
    }

    @Test func `changes that are added while another queue commits are stored after the commit ends`() async throws {
        try await Self.run { lane, store, loop, kept in
            await Self.onLoop(loop) {
                kept.batch.withLock { $0 = lane.takeAlong() }
                lane.addRepeatable(Self.changes[0])
            }
            #expect(store.changes.isEmpty)
            await Self.onLoop(loop) {
                guard let batch = kept.batch.withLock({ $0 }) else { return }
                #expect(batch.changes.isEmpty)
                lane.settled(batch, .success(()))
            }
            await Self.expect([Self.changes[0]], in: store, loop)
        }
    }

    @Test func `if another queue commits a waiting change, the change is taken once and is not committed again`()
        async throws
    {
        try await Self.run { lane, store, loop, kept in
            await Self.onLoop(loop) {
                lane.addRepeatable(Self.changes[0])
                lane.addRepeatable(Self.changes[1])
                kept.batch.withLock { $0 = lane.takeAlong() }
                #expect(lane.takeAlong() == nil)
            }
            await Self.onLoop(loop) {
                guard let batch = kept.batch.withLock({ $0 }) else { return }
                #expect(batch.changes == Array(Self.changes[..<2]))
                lane.settled(batch, .success(()))
            }
            #expect(store.changes.isEmpty)
        }
    }

    @Test
    func `if the commit of another queue fails, the changes in that commit are committed by their own queue in order`()
        async throws
    {
        try await Self.run { lane, store, loop, kept in
            await Self.onLoop(loop) {
                lane.add(Self.changes[0])
                kept.batch.withLock { $0 = lane.takeAlong() }
                lane.add(Self.changes[1])
            }
            #expect(store.changes.isEmpty)
            await Self.onLoop(loop) {
                guard let batch = kept.batch.withLock({ $0 }) else { return }
                lane.settled(batch, .failure(CourierError(.storeFull, "No room for what came along.")))
                lane.add(Self.changes[2])
            }
            await Self.expect(Self.changes, in: store, loop)
        }
    }

    @Test(arguments: [true, false])
    func `if finish() is called during another queue's commit, the ended closure is called once, after this commit`(
        hasSteps: Bool
    )
        async throws
    {
        let loop = try EventLoop(name: "lane")
        let (store, ends, kept) = (ControlledStore(), Series<Bool>(), Kept())
        let epoch = { kept.queue.sessionEpoch }
        let lane = StoreCommitQueue(store, on: loop, epoch: epoch) { _ in
            Issue.record("the store failed")
        } ended: {
            ends.append(true)
        }
        await Self.onLoop(loop) {
            lane.begin(Self.scope)
            if hasSteps { lane.add(Self.changes[0]) }
            kept.batch.withLock { $0 = lane.takeAlong() }
            lane.finish(CourierError(.clientDestroyed, "The client has ended."))
        }
        #expect(ends.values.isEmpty)
        await Self.onLoop(loop) {
            guard let batch = kept.batch.withLock({ $0 }) else { return }
            lane.settled(batch, .failure(CourierError(.storeFull, "No room for what came along.")))
        }
        while ends.values.isEmpty { await Self.onLoop(loop) {} }
        #expect(store.changes == (hasSteps ? [Self.changes[0]] : []))
        #expect(ends.values.count == 1)
        await loop.shutdown()
    }

    @Test func `if the store has no room for 10 s, a change that may be refused fails, and other changes are stored`()
        async throws
    {
        let messages = (1...4).map {
            StoredMessage(
                id: StoredMessage.ID(rawValue: $0), topic: "t", payload: [1], qos: .one, storedAt: Date())
        }
        let clock = VirtualClock()
        let loop = try EventLoop(name: "lane", clock: clock)
        let store = ControlledStore()
        let (failures, outcomes) = (Series<String>(), Series<String>())
        let queue = OutgoingQueue(OfflinePolicy(), hasStore: true)
        let epoch = { queue.sessionEpoch }
        let lane = StoreCommitQueue(store, on: loop, epoch: epoch) { failures.append("\($0.code)") }
        store.fail { change in
            guard case .keep(let message) = change, message.id.rawValue == 2 || message.id.rawValue == 4 else {
                return nil
            }
            return CourierError(.storeFull, "No room for it.")
        }
        await Self.onLoop(loop) {
            lane.begin(Self.scope)
            for message in messages {
                lane.add([.keep(message)], isRefusable: true) {
                    outcomes.append("\(message.id.rawValue) \($0.isRefusal ? "refused" : "stored")")
                }
            }
        }
        // The first commit contains all changes. After a second, the first two changes are committed separately. Then
        // the second change is tried once a second.
        await Self.expect(attempts: 1, of: store, clock, loop)
        for attempts in 3...12 {
            clock.advance(by: .seconds(1))
            await Self.expect(attempts: attempts, of: store, clock, loop)
        }
        #expect(outcomes.values == ["1 stored"])  // Before 10 s have passed, the store may only be slow.
        clock.advance(by: .seconds(1))
        await Self.expect(attempts: 15, of: store, clock, loop)
        #expect(outcomes.values == ["1 stored", "2 refused", "3 stored"])
        store.fail(nil)
        clock.advance(by: .seconds(1))
        while outcomes.values.count < 4 { await clock.settle(loop) }
        #expect(outcomes.values.last == "4 stored")
        #expect(failures.values.count == 3)
        await loop.shutdown()
    }

    @Test func `a change that fails after its session was destroyed reports clientDestroyed instead of storeFull`()
        async throws
    {
        let message = StoredMessage(
            id: StoredMessage.ID(rawValue: 1), topic: "t", payload: [1], qos: .one, storedAt: Date())
        try await Self.run { lane, store, loop, kept in
            let codes = Series<CourierError.Code?>()
            store.hold()
            await Self.onLoop(loop) { lane.add([.keep(message)], isRefusable: true) { codes.append($0.failure?.code) } }
            while store.heldCount == 0 { await Self.onLoop(loop) {} }
            await Self.onLoop(loop) { kept.endSession(lane, "It was destroyed.") }
            store.fail { _ in CourierError(.storeFull, "No room.") }
            store.release()
            while codes.values.isEmpty { await Self.onLoop(loop) {} }
            #expect(codes.values == [.clientDestroyed])
        }
    }

    @Test func `waiting changes are committed in order, at most 4,096 in one commit`() async throws {
        let removals = (1...10_000).map { StoreChange.removeOutgoing(StoredMessage.ID(rawValue: $0)) }
        try await Self.run { lane, store, loop, _ in
            store.hold()
            await Self.onLoop(loop) { lane.add(removals[0]) }
            while store.heldCount == 0 { await Self.onLoop(loop) {} }
            await Self.onLoop(loop) { for removal in removals.dropFirst() { lane.addRepeatable(removal) } }
            store.release()
            await Self.expect(removals, in: store, loop)
            #expect(store.commitSizes == [1, 4_096, 4_096, 1_807])
        }
    }

    @Test func `a commit has at most 8 MiB of messages, and a larger message is committed alone`() async throws {
        let sizes = [3 << 20, 3 << 20, 3 << 20, 9 << 20, 1, 1]
        let messages = sizes.enumerated().map { index, size in
            StoreChange.keep(
                StoredMessage(
                    id: StoredMessage.ID(rawValue: UInt64(index + 1)), topic: "t",
                    payload: [UInt8](repeating: 1, count: size),
                    qos: .one, storedAt: Date()))
        }
        try await Self.run { lane, store, loop, _ in
            await Self.onLoop(loop) { for message in messages { lane.add(message) } }
            while store.changes.count < messages.count { await Self.onLoop(loop) {} }
            #expect(store.changes == messages)
            #expect(store.commitSizes == [2, 1, 1, 2])
        }
    }

    @Test func `after a failed commit, changes of a destroyed session are not stored for the next session`()
        async throws
    {
        try await Self.run { lane, store, loop, kept in
            await Self.onLoop(loop) {
                lane.add(Self.changes[0])
                kept.batch.withLock { $0 = lane.takeAlong() }
                kept.endSession(lane, "Given up.")
                lane.begin(Self.scope)
                lane.add(Self.changes[1])
            }
            await Self.onLoop(loop) {
                guard let batch = kept.batch.withLock({ $0 }) else { return }
                lane.settled(batch, .failure(CourierError(.storeFull, "No room for what came along.")))
            }
            await Self.expect([Self.changes[1]], in: store, loop)
        }
    }
}
