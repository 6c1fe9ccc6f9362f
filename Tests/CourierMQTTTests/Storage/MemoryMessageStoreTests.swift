import CourierCore
import CourierMQTT
import CourierTesting
import Foundation
import Synchronization
import Testing

@Suite struct MemoryMessageStoreTests {
    private let scope = StoreScope(clientID: "client", broker: "broker:1883")

    private func id(_ number: UInt64) -> StoredMessage.ID { StoredMessage.ID(rawValue: number) }

    private func message(
        _ number: UInt64, _ topic: String = "a", bytes: Int = 10, expiresAt: Date? = nil
    ) -> StoredMessage {
        StoredMessage(
            id: id(number), topic: topic, payload: [UInt8](repeating: UInt8(truncatingIfNeeded: number), count: bytes),
            qos: .one, storedAt: Date(timeIntervalSince1970: 0), expiresAt: expiresAt)
    }

    private func commit(
        _ changes: [StoreChange], to store: MemoryMessageStore, in scope: StoreScope? = nil
    ) async -> CourierError.Code? {
        await withCheckedContinuation { continuation in
            store.commit(changes, in: scope ?? self.scope) { result in
                switch result {
                case .success: continuation.resume(returning: nil)
                case .failure(let error): continuation.resume(returning: error.code)
                }
            }
        }
    }

    private func outgoingIDs(_ store: MemoryMessageStore) async -> [UInt64] {
        await store.outgoing(in: scope, after: nil, limit: .max).map(\.message.id.rawValue)
    }

    @Test func `MemoryMessageStore passes the checks of MessageStoreLaws`() async throws {
        try await MessageStoreLaws.check { MemoryMessageStore() }
        for (rows, bytes) in [(99, Int.max), (Int.max, 100_000)] {
            try await MessageStoreLaws.checkLimits { MemoryMessageStore(maximumRows: rows, maximumBytes: bytes) }
        }
    }

    @Test func `rejected messages are limited by count and bytes, and the oldest are removed first`() async {
        let store = MemoryMessageStore()
        let date = Date(timeIntervalSince1970: 9)
        for number in 1...1_010 as ClosedRange<UInt64> {
            let changes: [StoreChange] = [.enqueue(message(number)), .reject(id(number), reason: "r", at: date)]
            #expect(await commit(changes, to: store) == nil)
        }
        let ids = await store.rejected(in: scope, after: nil, limit: .max).map(\.message.id.rawValue)
        #expect(ids == Array(11...1_010))
        for number in 2_001...2_003 as ClosedRange<UInt64> {
            let large = message(number, bytes: 6 << 20)
            #expect(await commit([.enqueue(large), .reject(large.id, reason: "r", at: date)], to: store) == nil)
        }
        #expect(await store.rejected(in: scope, after: nil, limit: .max).map(\.message.id.rawValue) == [2_002, 2_003])
        let giant = message(3_000, bytes: 17 << 20)
        #expect(await commit([.enqueue(giant), .reject(giant.id, reason: "r", at: date)], to: store) == nil)
        #expect(await store.rejected(in: scope, after: nil, limit: .max).map(\.message.id.rawValue) == [2_002, 2_003])
        #expect(await outgoingIDs(store).isEmpty)
    }

    @Test func `a batch of changes that fails with storeFull does not remove a rejected message from the store`() async
    {
        let store = MemoryMessageStore(maximumRows: 2)
        let date = Date(timeIntervalSince1970: 9)
        _ = await commit(
            [.enqueue(message(1)), .enqueue(message(2)), .reject(id(1), reason: "r", at: date)], to: store)
        let changes: [StoreChange] = [
            .removeRejected(id(1)), .reject(id(2), reason: "r", at: date), .enqueue(message(3)), .enqueue(message(4)),
            .enqueue(message(5)),
        ]
        #expect(await commit(changes, to: store) == .storeFull)
        #expect(await outgoingIDs(store) == [2])
        #expect(await store.rejected(in: scope, after: nil, limit: .max).map(\.message.id.rawValue) == [1])
    }

    @Test func `the progress of a stored message can change from queued to sent, to received and back to queued`() async
    {
        let store = MemoryMessageStore()
        #expect(await commit([.enqueue(message(1))], to: store) == nil)
        #expect(await store.outgoing(in: scope, after: nil, limit: 9) == [StoredOutgoing(message(1), .queued)])
        for progress in [StoredOutgoing.Progress.sent(packetID: 7), .received(packetID: 7), .queued] {
            #expect(await commit([.progress(id(1), progress)], to: store) == nil)
            #expect(await store.outgoing(in: scope, after: nil, limit: 9) == [StoredOutgoing(message(1), progress)])
        }
        #expect(await commit([.removeOutgoing(id(1))], to: store) == nil)
        #expect(await store.outgoing(in: scope, after: nil, limit: 9).isEmpty)
    }

    @Test func `messages are read in the order of their ids, not in the order of their commits`() async {
        let store = MemoryMessageStore()
        for number in [5, 2, 9, 1, 7] as [UInt64] { _ = await commit([.enqueue(message(number))], to: store) }
        #expect(await outgoingIDs(store) == [1, 2, 5, 7, 9])
    }

    @Test
    func `outgoing() returns a limited number of messages after an id, even if the message with the id was removed`()
        async
    {
        let store = MemoryMessageStore()
        _ = await commit((1...10).map { .enqueue(message($0)) } + [.removeOutgoing(id(4))], to: store)
        var pages: [[UInt64]] = []
        var last: StoredMessage.ID?
        while true {
            let page = await store.outgoing(in: scope, after: last, limit: 4)
            if page.isEmpty { break }
            pages.append(page.map(\.message.id.rawValue))
            last = page.last?.message.id
        }
        #expect(pages == [[1, 2, 3, 5], [6, 7, 8, 9], [10]])
        #expect(await store.outgoing(in: scope, after: id(4), limit: 1).map(\.message.id) == [id(5)])
        #expect(await store.outgoing(in: scope, after: nil, limit: 0).isEmpty)
    }

    @Test func `a read of 3,000 rows returns all matching rows, with and without a topic filter`() async {
        let store = MemoryMessageStore()
        _ = await commit((1...3_000).map { .enqueue(message($0, bytes: 1)) }, to: store)
        _ = await commit(
            (1...3_000).map { .keep(message($0, $0.isMultiple(of: 1_000) ? "x" : "y", bytes: 1)) }, to: store)
        #expect(await outgoingIDs(store) == Array(1...3_000))
        let found = await store.incoming(in: scope, matching: try? TopicFilter("x"), after: nil, limit: 9)
        #expect(found.map(\.id.rawValue) == [1_000, 2_000, 3_000])
    }

    @Test func `incoming messages are found by topic filter until they are removed`() async throws {
        let store = MemoryMessageStore()
        let kept = [message(1, "a/b"), message(2, "c"), message(3, "a/d"), message(4, "$SYS/a")]
        _ = await commit(kept.map { .keep($0) }, to: store)
        #expect(await store.incoming(in: scope, matching: nil, after: nil, limit: 9) == kept)
        let filter = try TopicFilter("a/+")
        #expect(await store.incoming(in: scope, matching: filter, after: nil, limit: 9) == [kept[0], kept[2]])
        #expect(await store.incoming(in: scope, matching: filter, after: id(1), limit: 9) == [kept[2]])
        #expect(
            await store.incoming(in: scope, matching: try TopicFilter("#"), after: nil, limit: 2) == [kept[0], kept[1]])
        _ = await commit([.removeIncoming(id(1))], to: store)
        #expect(await store.incoming(in: scope, matching: filter, after: nil, limit: 9) == [kept[2]])
    }

    @Test func `expired incoming messages are not read, and removeExpired deletes no outgoing message`() async {
        let clock = Mutex(Date(timeIntervalSince1970: 100))
        let store = MemoryMessageStore(date: { clock.withLock { $0 } })
        let end = Date(timeIntervalSince1970: 200)
        _ = await commit(
            [.keep(message(1, expiresAt: end)), .keep(message(2)), .enqueue(message(3, expiresAt: end))], to: store)
        #expect(await store.incoming(in: scope, matching: nil, after: nil, limit: 9).count == 2)
        clock.withLock { $0 = end }
        #expect(await store.incoming(in: scope, matching: nil, after: nil, limit: 9).map(\.id) == [id(2)])
        _ = await commit([.removeExpired(at: Date(timeIntervalSince1970: 199))], to: store)
        #expect(await store.summary(of: scope).incomingCount == 2)
        _ = await commit([.removeExpired(at: end)], to: store)
        #expect(await store.summary(of: scope).incomingCount == 1)
        #expect(await outgoingIDs(store) == [3])
    }

    @Test func `incoming packet ids are stored until forgetPacketID or forgetAllPacketIDs deletes them`() async {
        let store = MemoryMessageStore()
        _ = await commit(
            [.rememberPacketID(1), .rememberPacketID(2), .rememberPacketID(2), .rememberPacketID(3)], to: store)
        _ = await commit([.forgetPacketID(2), .forgetPacketID(9)], to: store)
        #expect(await store.incomingPacketIDs(in: scope) == [1, 3])
        _ = await commit([.forgetAllPacketIDs], to: store)
        #expect(await store.incomingPacketIDs(in: scope).isEmpty)
    }

    @Test func `the store returns the last subscription state of a filter until forgetSubscription removes it`()
        async throws
    {
        let store = MemoryMessageStore()
        let (a, b) = (try TopicFilter("a/#"), try TopicFilter("b"))
        _ = await commit(
            [
                .want(StoredSubscription(a, .subscribed(.zero))), .want(StoredSubscription(b, .subscribed(.two))),
                .want(StoredSubscription(a, .unsubscribing)),
            ], to: store)
        #expect(
            await store.subscriptions(in: scope)
                == [StoredSubscription(a, .unsubscribing), StoredSubscription(b, .subscribed(.two))])
        _ = await commit([.forgetSubscription(a), .forgetSubscription(a)], to: store)
        #expect(await store.subscriptions(in: scope) == [StoredSubscription(b, .subscribed(.two))])
    }

    @Test func `summary() counts rows and payload bytes, and has the last message id even after removeAll`()
        async throws
    {
        let store = MemoryMessageStore()
        #expect(
            await store.summary(of: scope)
                == StoreSummary(outgoingCount: 0, incomingCount: 0, payloadBytes: 0, lastMessageID: nil))
        _ = await commit(
            [.enqueue(message(1, bytes: 5)), .enqueue(message(4, bytes: 6)), .keep(message(9, bytes: 7))], to: store)
        #expect(
            await store.summary(of: scope)
                == StoreSummary(outgoingCount: 2, incomingCount: 1, payloadBytes: 18, lastMessageID: id(9)))
        _ = await commit([.removeIncoming(id(9))], to: store)
        #expect(await store.summary(of: scope).lastMessageID == id(9))
        _ = await commit(
            [.rememberPacketID(1), .want(StoredSubscription(try TopicFilter("a"), .unsubscribing)), .removeAll],
            to: store)
        #expect(
            await store.summary(of: scope)
                == StoreSummary(outgoingCount: 0, incomingCount: 0, payloadBytes: 0, lastMessageID: id(9)))
        #expect(await store.incomingPacketIDs(in: scope).isEmpty)
        #expect(await store.subscriptions(in: scope).isEmpty)
    }

    @Test func `a change to a row that is not in the store succeeds and has no effect`() async throws {
        let store = MemoryMessageStore()
        let changes: [StoreChange] = [
            .progress(id(1), .sent(packetID: 1)), .removeOutgoing(id(1)), .removeIncoming(id(1)), .forgetPacketID(1),
            .forgetAllPacketIDs, .forgetSubscription(try TopicFilter("a")), .removeExpired(at: Date()), .removeAll,
        ]
        #expect(await commit(changes, to: store) == nil)
        #expect(await store.summary(of: scope).lastMessageID == nil)
    }

    @Test func `a read or a removal in one scope does not affect the rows of another scope`() async {
        let store = MemoryMessageStore()
        let others = [
            StoreScope(clientID: "client", broker: "other:1883"), StoreScope(clientID: "other", broker: "broker:1883"),
        ]
        _ = await commit([.enqueue(message(1)), .rememberPacketID(5)], to: store)
        for other in others {
            #expect(await store.outgoing(in: other, after: nil, limit: 9).isEmpty)
            #expect(await store.incomingPacketIDs(in: other).isEmpty)
            _ = await commit([.removeAll], to: store, in: other)
        }
        #expect(await outgoingIDs(store) == [1])
    }

    @Test func `a batch beyond maximumRows fails as a whole, and a later batch that fits is accepted`() async throws {
        let store = MemoryMessageStore(maximumRows: 3)
        let filter = try TopicFilter("a")
        let old = Date(timeIntervalSince1970: 1)
        _ = await commit(
            [
                .enqueue(message(1)), .keep(message(2, expiresAt: old)),
                .want(StoredSubscription(filter, .subscribed(.one))),
                .rememberPacketID(1),
            ], to: store)
        let before = await store.summary(of: scope)
        let refused: [StoreChange] = [
            .progress(id(1), .sent(packetID: 9)), .forgetPacketID(1), .rememberPacketID(2), .forgetAllPacketIDs,
            .want(StoredSubscription(filter, .unsubscribing)), .removeExpired(at: old), .removeAll,
            .enqueue(message(5)), .enqueue(message(6)), .keep(message(7)), .keep(message(8)),
        ]
        #expect(await commit(refused, to: store) == .storeFull)
        #expect(await store.summary(of: scope) == before)
        #expect(await store.outgoing(in: scope, after: nil, limit: 9) == [StoredOutgoing(message(1), .queued)])
        #expect(await store.incomingPacketIDs(in: scope) == [1])
        #expect(await store.subscriptions(in: scope) == [StoredSubscription(filter, .subscribed(.one))])
        #expect(
            await commit([.enqueue(message(5))], to: store, in: StoreScope(clientID: "x", broker: "y")) == .storeFull)
        #expect(await commit([.removeOutgoing(id(1)), .enqueue(message(5))], to: store) == nil)
        #expect(await outgoingIDs(store) == [5])
    }

    @Test func `maximumBytes counts payload, topic and properties, and a full store still accepts removals`() async {
        let store = MemoryMessageStore(maximumBytes: 100)
        #expect(await commit([.enqueue(message(1, bytes: 99))], to: store) == nil)  // And one byte of topic.
        #expect(await commit([.enqueue(message(2, bytes: 0))], to: store) == .storeFull)
        #expect(await commit([.progress(id(1), .sent(packetID: 1)), .rememberPacketID(3)], to: store) == nil)
        #expect(await commit([.removeOutgoing(id(7)), .removeOutgoing(id(1))], to: store) == nil)
        let heavy = StoredMessage(
            id: id(3), topic: "a", payload: [], qos: .one,
            properties: MessageProperties(userProperties: [.init("name", String(repeating: "v", count: 96))]),
            storedAt: Date())
        #expect(await commit([.enqueue(heavy)], to: store) == .storeFull)
        #expect(await commit([.enqueue(message(4, bytes: 99))], to: store) == nil)
        #expect(await commit([.enqueue(message(4, bytes: 99))], to: store) == nil, "it takes its own place")
    }

    @Test func `each commit completion is called once, in the order of the calls, and can call the store`() async {
        let store = MemoryMessageStore()
        let order = Mutex<[Int]>([])
        let scope = scope
        let messages = (0..<500).map { message(UInt64($0)) }
        await withCheckedContinuation { done in
            for number in 0..<500 {
                store.commit([.enqueue(messages[number])], in: scope) { _ in
                    order.withLock { $0.append(number) }
                    // The lock is not held: the store answers.
                    store.commit([.removeOutgoing(messages[number].id)], in: scope) { _ in
                        let count = order.withLock { order in
                            order.append(1_000 + number)
                            return order.count
                        }
                        if count == 1_000 { done.resume() }
                    }
                }
            }
        }
        let all = order.withLock { $0 }
        #expect(all.filter { $0 < 1_000 } == Array(0..<500))
        #expect(all.filter { $0 >= 1_000 } == Array(1_000..<1_500))
        #expect(await outgoingIDs(store).isEmpty)
    }

    @Test func `concurrent commits from 8 tasks lose no change`() async {
        let store = MemoryMessageStore()
        await withTaskGroup(of: Void.self) { group in
            for task in 0..<8 {
                group.addTask {
                    for number in 0..<200 {
                        let id = UInt64(task * 1_000 + number)
                        _ = await commit([.enqueue(message(id)), .keep(message(id))], to: store)
                        if !number.isMultiple(of: 4) { _ = await commit([.removeOutgoing(self.id(id))], to: store) }
                    }
                }
            }
        }
        let summary = await store.summary(of: scope)
        #expect(summary.outgoingCount == 400)
        #expect(summary.incomingCount == 1_600)
        #expect(summary.payloadBytes == 20_000)
        #expect(
            await outgoingIDs(store)
                == (0..<8).flatMap { task in stride(from: 0, to: 200, by: 4).map { UInt64(task * 1_000 + $0) } })
    }
}
