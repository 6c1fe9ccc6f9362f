import CourierCore
import CourierTransport
import Foundation
import Testing

@testable import CourierMQTT

/// Tests which rows of received messages are free for a reader, and what happens to rows that a reader holds.
@Suite(.timeLimit(.minutes(5))) struct DurableInboxTests {
    private static let scope = StoreScope(clientID: "a", broker: "b:1")
    private static let ids = (1...3).map { StoredMessage.ID(rawValue: $0) }

    private static var message: ReceivedMessage {
        let page = MessagePage(
            Data([1]), topic: "t", qos: .one, packetID: nil, isRetained: false, isDuplicate: false,
            properties: MessageProperties())
        return ReceivedMessage(page: page, index: 0, ticket: nil)
    }

    /// Runs `body` on the loop of an inbox.
    private static func onLoop<Value: Sendable>(
        _ loop: EventLoop, _ body: @escaping @Sendable () -> Value
    ) async -> Value {
        await withCheckedContinuation { (done: CheckedContinuation<Value, Never>) in
            loop.execute { done.resume(returning: body()) }
        }
    }

    private static func inbox() throws -> (
        EventLoop, ControlledStore, steps: StoreCommitQueue, additions: StoreCommitQueue, DurableInbox, OutgoingQueue
    ) {
        let loop = try EventLoop(name: "inbox")
        let store = ControlledStore()
        let queue = OutgoingQueue(OfflinePolicy(), hasStore: true)
        let epoch = { queue.sessionEpoch }
        let steps = StoreCommitQueue(store, on: loop, epoch: epoch) { _ in Issue.record("the store failed") }
        let additions = StoreCommitQueue(store, on: loop, epoch: epoch) { _ in Issue.record("the store failed") }
        let inbox = DurableInbox(
            store, limit: StoreSize(rows: 10, bytes: 1 << 20), steps: steps, additions: additions, on: loop,
            epoch: epoch
        ) {
            StoredMessage.ID(rawValue: 9)
        }
        return (loop, store, steps, additions, inbox, queue)
    }

    /// Passes all rows to a reader.
    private static func handOut(
        _ inbox: DurableInbox, _ steps: StoreCommitQueue, _ store: ControlledStore, on loop: EventLoop,
        of scope: StoreScope = scope
    ) async throws {
        let rows = ids.map { StoredMessage(id: $0, topic: "t", payload: [1], qos: .one, storedAt: Date()) }
        try await store.memory.fill(rows.map { .keep($0) }, scope)
        await withCheckedContinuation { (done: CheckedContinuation<Void, Never>) in
            loop.execute {
                steps.begin(scope)
                inbox.begin(ids.count, scope)
                inbox.read(nil, after: nil) { _ in done.resume() }
            }
        }
    }

    @Test func `if a message is stored after all delivered rows have expired, the inbox has rows again`() async throws {
        let (loop, store, steps, _, inbox, _) = try Self.inbox()
        try await Self.handOut(inbox, steps, store, on: loop)
        let hasRows = await Self.onLoop(loop) { inbox.hasRows }
        #expect(!hasRows)

        // The rows have expired. So the store has removed them, and the inbox reads the number of remaining rows.
        try await store.memory.fill(Self.ids.map { .removeIncoming($0) }, Self.scope)
        store.holdReads()
        await Self.onLoop(loop) { inbox.removeExpired() }
        while store.heldReadCount == 0 { await Self.onLoop(loop) {} }
        store.letReadsPass()
        store.releaseRead()
        while await Self.onLoop(loop, { inbox.isReading }) {}

        await Self.onLoop(loop) {
            for id in Self.ids { inbox.remove(id, of: 0) }
            #expect(!inbox.hasRows)
            let isKept = inbox.keep(Self.message, packetID: nil, for: nil) { _ in }
            #expect(isKept)
            #expect(inbox.hasRows)
        }
        await loop.shutdown()
    }

    @Test func `removing a row for a destroyed session does not remove the row with the same id in the next session`()
        async throws
    {
        let (loop, store, steps, _, inbox, queue) = try Self.inbox()
        try await Self.handOut(inbox, steps, store, on: loop)
        store.hold()
        await Self.onLoop(loop) { inbox.remove(Self.ids[0], of: 0) }
        while store.heldCount == 0 { await Self.onLoop(loop) {} }
        await Self.onLoop(loop) {
            let error = CourierError(.clientDestroyed, "The session is gone.")
            _ = queue.destroy()
            queue.endedSession()
            steps.removeAll(error)
            inbox.removeAll(error)
        }
        let next = StoreScope(clientID: "next", broker: "b:1")
        try await Self.handOut(inbox, steps, store, on: loop, of: next)
        store.release()
        while await Self.onLoop(loop, { !steps.isIdle }) {}

        // A reader still has the first row and the other rows.
        let found = await Self.readAgain(inbox, on: loop)
        #expect(found?.isEmpty == true)
        let isSettled = await withCheckedContinuation { (done: CheckedContinuation<Bool, Never>) in
            loop.execute {
                inbox.giveBack(Self.ids[2], of: 0)
                inbox.remove(Self.ids[1], of: 0) { done.resume(returning: $0.success != nil) }
            }
        }
        #expect(isSettled)
        let foundThen = await Self.readAgain(inbox, on: loop)
        #expect(foundThen?.isEmpty == true)
        while await Self.onLoop(loop, { !steps.isIdle }) {}
        let left = await store.memory.incoming(in: next, matching: nil, after: nil, limit: 10)
        #expect(left.map(\.id) == Self.ids)
        await loop.shutdown()
    }

    /// The rows that another reader receives.
    private static func readAgain(_ inbox: DurableInbox, on loop: EventLoop) async -> [StoredMessage.ID]? {
        await withCheckedContinuation { (done: CheckedContinuation<[StoredMessage.ID]?, Never>) in
            loop.execute {
                inbox.read(nil, after: nil) { page in done.resume(returning: page.success?.rows.map(\.id)) }
            }
        }
    }

    @Test func `after finish(), a delivered row is deleted from the store, and a row that was not delivered remains`()
        async throws
    {
        let (loop, store, steps, _, inbox, _) = try Self.inbox()
        try await Self.handOut(inbox, steps, store, on: loop)
        await Self.onLoop(loop) {
            let error = CourierError(.clientDestroyed, "The client has ended.")
            inbox.finish(error)
            steps.finish(error)
            inbox.giveBack(Self.ids[2], of: 0)
        }
        for id in Self.ids.dropLast() {
            await withCheckedContinuation { (done: CheckedContinuation<Void, Never>) in
                loop.execute { inbox.remove(id, of: 0) { _ in done.resume() } }
            }
        }
        let left = await store.memory.incoming(in: Self.scope, matching: nil, after: nil, limit: 10)
        #expect(left.map(\.id) == [Self.ids[2]])
        await loop.shutdown()
    }

    @Test func `read() after finish() returns no rows while a commit is still running`() async throws {
        let (loop, store, _, additions, inbox, _) = try Self.inbox()
        store.hold()
        await Self.onLoop(loop) {
            inbox.begin(0, Self.scope)
            let isKept = inbox.keep(Self.message, packetID: nil, for: nil) { _ in }
            #expect(isKept)
        }
        while store.heldCount == 0 { await Self.onLoop(loop) {} }
        let count = await withCheckedContinuation { (done: CheckedContinuation<Int?, Never>) in
            loop.execute {
                inbox.finish(CourierError(.clientDestroyed, "The client has ended."))
                #expect(!inbox.hasRows)
                inbox.read(nil, after: nil) { page in done.resume(returning: page.success?.rows.count) }
            }
        }
        #expect(count == 0)
        store.release()
        while await Self.onLoop(loop, { !additions.isIdle }) {}
        #expect(store.changes.count == 1)
        await loop.shutdown()
    }
}
