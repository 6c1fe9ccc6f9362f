import CourierCore
import Foundation
import Synchronization
import TestSupport
import Testing

@testable import CourierSQLite

@Suite struct SQLiteMessageStoreTests {
    private let folder: TemporaryFolder

    init() throws { folder = try TemporaryFolder() }

    private func open(
        _ durability: SQLiteMessageStore.Durability = .normal, _ limits: SQLiteMessageStore.Limits = .default
    ) throws -> SQLiteMessageStore {
        try SQLiteMessageStore(
            at: folder.file, durability: durability, limits: limits, system: FaultyDisk.quick.name)
    }

    // MARK: What stays

    @Test func `changes of every kind are in the file after the store is reopened`() async throws {
        let filter = try TopicFilter("a/+")
        let end = message(3).storedAt + 5
        let rejection = Date(timeIntervalSinceReferenceDate: 800_000_100.5)
        let bootTime = BootTime(bootID: UUID(), sinceBoot: .nanoseconds(1_234_567_890_123))
        let steps: [[StoreChange]] = [
            [.enqueue(message(1, qos: .two)), .enqueue(message(2))], [.progress(id(1), .sent(packetID: 65_535))],
            [.progress(id(1), .received(packetID: 1))], [.progress(id(1), .queued)], [.removeOutgoing(id(1))],
            [.keep(message(3, expiresAt: end)), .keep(message(4)), .keep(message(5))],
            [.removeIncoming(id(4))], [.removeExpired(at: end - 1)], [.removeExpired(at: end)],
            [.rememberPacketID(1), .rememberPacketID(65_535)], [.forgetPacketID(1)],
            [.want(StoredSubscription(filter, .subscribed(.two)))], [.want(StoredSubscription(filter, .unsubscribing))],
            [.forgetSubscription(filter)], [.forgetAllPacketIDs],
            [.rememberSession(StoreScope(clientID: "phone", broker: "one:1883"))],
            [.rememberSession(StoreScope(clientID: "", broker: ""))],
            [.rememberPacketID(9), .want(StoredSubscription(filter, .subscribed(.zero)))], [.removeAll],
            [.enqueue(message(2, bootTime: bootTime, isLatestOnly: true)), .keep(message(3, bootTime: bootTime))],
            [.strike(id(2), count: 2)], [.progress(id(2), .sent(packetID: 4))], [.strike(id(2), count: 3)],
            [.reject(id(2), reason: "Three times.", at: rejection)], [.reject(id(3), reason: "None.", at: rejection)],
            [.enqueue(message(4, bytes: 5_000)), .reject(id(4), reason: "", at: rejection)], [.removeRejected(id(2))],
            [.removeAll],
        ]
        var model = StoreModel()
        for (number, step) in steps.enumerated() {
            let store = try open()
            #expect(await store.refusal(step) == nil)
            model.apply(step)
            await store.close()
            let again = try open()
            var found = try await again.contents()
            // An expired message is not read, but it is counted until it is removed.
            if (5...7).contains(number) {
                found.incoming.insert(message(3, expiresAt: end), at: 0)
            }
            #expect(found == model.contents(), "behind step \(number)")
            await again.close()
        }
    }

    @Test(arguments: [1, 2, 3, 4] as [UInt64])
    func `random batches have the same effect on a store as on a simple model, even after the store is reopened`(
        seed: UInt64
    ) async throws {
        var random = SeededGenerator(seed: seed)
        var model = StoreModel()
        let scopes = [
            StoreScope.client, StoreScope(clientID: "other", broker: "b:1"), StoreScope(clientID: "", broker: ""),
        ]
        var store = try open()
        for round in 0..<60 {
            let batches = (0..<Int.random(in: 1...6, using: &random)).map { _ in
                (0..<Int.random(in: 0...8, using: &random)).map { _ in Self.change(&random) }
            }
            let scope = scopes[Int.random(in: 0..<scopes.count, using: &random)]
            let results = await withCheckedContinuation { continuation in
                let waiting = Collector(count: batches.count) { continuation.resume(returning: $0) }
                for (number, batch) in batches.enumerated() {
                    store.commit(batch, in: scope) { waiting.add(number, $0) }
                }
            }
            for (batch, result) in zip(batches, results) {
                #expect(throws: Never.self) { try result.get() }
                model.apply(batch, in: scope)
            }
            if Int.random(in: 0..<10, using: &random) == 0 {
                await store.close()
                store = try open(Bool.random(using: &random) ? .full : .normal)
            }
            for scope in scopes {
                #expect(
                    try await store.contents(of: scope) == model.contents(of: scope), "seed \(seed), round \(round)")
            }
        }
        await store.close()
    }

    private static func change(_ random: inout SeededGenerator) -> StoreChange {
        let number = UInt64.random(in: 1...12, using: &random)
        let filters = ["a", "a/+", "#"].compactMap { try? TopicFilter($0) }
        let filter = filters[Int.random(in: 0..<filters.count, using: &random)]
        let later = Date(timeIntervalSinceNow: 1e6 + Double(number))
        let bytes = [0, 10, 5_000][Int.random(in: 0..<3, using: &random)]
        let bootTime = BootTime(bootID: UUID(), sinceBoot: .nanoseconds(Int64.random(in: 0...1 << 50, using: &random)))
        let processor = number.isMultiple(of: 2) ? "orders" : "bills"
        let time = StoreTime(date: message(number).storedAt, bootTime: bytes == 0 ? nil : bootTime)
        let pause = Duration.nanoseconds(Int64(number) * 1_000_000_007)
        let state = StoredJob.State(
            processor: processor, deduplicationKey: bytes == 0 ? nil : "key \(number)", attempts: bytes % 7,
            lastError: bytes == 10 ? "The printer is empty." : nil,
            stage: bytes == 5_000 ? .parked(at: time.date) : .waiting(pause, since: time))
        return switch Int.random(in: 0..<40, using: &random) {
        case 30...33: .addJob(StoredJob(message(number, bytes: bytes, bootTime: bootTime), state))
        case 34, 35: .updateJob(id(number), state)
        case 36: .removeJob(id(number))
        case 37, 38: .rememberKey(ProcessedKey(processor: processor, key: "\(number)", handledAt: time))
        case 39: .forgetKeys(processor: processor, keys: ["1", "2", "\(number)"])
        case 0...5: .enqueue(message(number, bytes: bytes))
        case 6...8: .progress(id(number), .sent(packetID: UInt16(number)))
        case 9: .progress(id(number), .received(packetID: UInt16(number)))
        case 10...13: .removeOutgoing(id(number))
        case 14, 15: .keep(message(number, bytes: bytes, expiresAt: number.isMultiple(of: 2) ? later : nil))
        case 16: .removeIncoming(id(number))
        case 17: .removeExpired(at: later)
        case 18: .rememberPacketID(UInt16(number))
        case 19: .forgetPacketID(UInt16(number))
        case 20: .want(StoredSubscription(filter, number.isMultiple(of: 2) ? .unsubscribing : .subscribed(.one)))
        case 21: .forgetSubscription(filter)
        case 22: .forgetAllPacketIDs
        case 23: .strike(id(number), count: bytes % 7)
        case 24: .reject(id(number), reason: "\(bytes)", at: message(number).storedAt)
        case 25: .removeRejected(id(number))
        case 26: .enqueue(message(number, bytes: bytes, bootTime: bootTime, isLatestOnly: true))
        case 27: .keep(message(number, bytes: bytes, expiresAt: later, bootTime: bootTime))
        case 28: .rememberSession(StoreScope(clientID: "phone", broker: "\(number):1883"))
        default: number == 1 ? .removeAll : .rememberPacketID(UInt16(number))
        }
    }

    @Test func `committed changes are written even if the store is released immediately after the commit`() async throws
    {
        for number in 1...20 as ClosedRange<UInt64> {
            // The store is released before its batch is written. The next store waits for it.
            try open().commit([.enqueue(message(number))], in: .client) { _ in }
        }
        let store = try open()
        #expect(try await store.outgoingIDs() == Array(1...20))
        await store.close()
    }

    @Test func `a closed store refuses changes and reads, and may be closed twice`() async throws {
        let store = try open()
        async let first: Void = store.close()
        async let second: Void = store.close()
        _ = await (first, second)
        #expect(await store.refusal([.enqueue(message(1))]) == .storeFailed)
        await #expect(throws: CourierError.self) { try await store.summary(of: .client) }
        await store.close()
    }

    // MARK: Groups

    @Test func `batches that wait during a write are written in one transaction, in order`() async throws {
        let store = try open(.full)
        try await store.commit(.enqueue(message(1)))
        let before = store.transactionCount
        let (held, go) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
        store.commit([.enqueue(message(2))], in: .client) { _ in
            held.signal()
            go.wait()  // Holds the store's thread until all others wait.
        }
        let order = await withCheckedContinuation { continuation in
            let order = Mutex<[UInt64]>([])
            // Waits on a separate thread.
            Thread.detachNewThread {
                held.wait()
                for number in 3...500 as ClosedRange<UInt64> {
                    store.commit([.enqueue(message(number))], in: .client) { _ in
                        let all = order.withLock { order in
                            order.append(number)
                            return order
                        }
                        if all.count == 498 { continuation.resume(returning: all) }
                    }
                }
                go.signal()
            }
        }
        #expect(order == Array(3...500))
        #expect(try await store.outgoingIDs() == Array(1...500))
        #expect(store.transactionCount == before + 2)
        await store.close()
    }

    @Test(arguments: SQLiteMessageStore.Durability.allCases)
    func `a batch that adds and removes the same rows starts no database transaction`(
        durability: SQLiteMessageStore.Durability
    ) async throws {
        let store = try open(durability)
        try await store.commit(.enqueue(message(1)))
        let before = store.transactionCount
        try await store.commit(
            .enqueue(message(2)), .progress(id(2), .sent(packetID: 1)), .removeOutgoing(id(2)), .keep(message(3)),
            .removeIncoming(id(3)))
        #expect(store.transactionCount == before)
        #expect(try await store.summary(of: .client).lastMessageID == id(3))
        await store.close()
        let again = try open()
        #expect(try await again.summary(of: .client).lastMessageID == id(3))
        #expect(try await again.outgoingIDs() == [1])
        await again.close()
    }

    // MARK: Limits

    @Test func `a full store refuses to add rows, but accepts to remove or replace rows`() async throws {
        let store = try open(.normal, SQLiteMessageStore.Limits(rows: 2))
        #expect(await store.refusal([.enqueue(message(1)), .enqueue(message(2))]) == nil)
        #expect(await store.refusal([.enqueue(message(3))]) == .storeFull)
        #expect(await store.refusal([.enqueue(message(2, "new"))]) == nil)
        #expect(await store.refusal([.removeOutgoing(id(1)), .keep(message(3))]) == nil)
        #expect(await store.refusal([.want(StoredSubscription(try TopicFilter("a"), .unsubscribing))]) == .storeFull)
        #expect(await store.refusal([.rememberPacketID(1)]) == nil)
        let contents = try await store.contents()
        #expect(contents.outgoing.map(\.message.topic) == ["new"] && contents.incoming.map(\.id) == [id(3)])
        #expect(contents.summary.lastMessageID == id(3))
        await store.close()
    }

    @Test func `a store with more rows than its new limit accepts only batches that reduce the number of rows`()
        async throws
    {
        let large = try open()
        for number in 1...5 as ClosedRange<UInt64> { try await large.commit(.enqueue(message(number))) }
        await large.close()
        let small = try open(.normal, SQLiteMessageStore.Limits(rows: 2))
        #expect(await small.refusal([.enqueue(message(6))]) == .storeFull)
        #expect(await small.refusal([.removeOutgoing(id(1)), .removeOutgoing(id(2)), .enqueue(message(6))]) == nil)
        #expect(try await small.outgoingIDs() == [3, 4, 5, 6])
        await small.close()
    }

    @Test func `if the store is nearly full, each of several waiting batches is accepted or refused separately`()
        async throws
    {
        let store = try open(.normal, SQLiteMessageStore.Limits(rows: 3))
        let batches: [[StoreChange]] = [
            [.enqueue(message(1)), .enqueue(message(2))], [.enqueue(message(3)), .enqueue(message(4))],
            [.enqueue(message(5))], [.enqueue(message(6))], [.removeOutgoing(id(1))], [.enqueue(message(7))],
        ]
        let results = await withCheckedContinuation { continuation in
            let waiting = Collector(count: batches.count) { continuation.resume(returning: $0) }
            for (number, batch) in batches.enumerated() { store.commit(batch, in: .client) { waiting.add(number, $0) } }
        }
        let isAccepted = results.map { if case .success = $0 { true } else { false } }
        #expect(isAccepted == [true, false, true, false, true, true])
        #expect(try await store.outgoingIDs() == [2, 5, 7])
        await store.close()
    }

    @Test func `if too many changes wait, further batches are refused, and results arrive in the order of the batches`()
        async throws
    {
        let store = try open(.normal, SQLiteMessageStore.Limits(waitingChanges: 10))
        let (held, go) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
        store.commit([.enqueue(message(1))], in: .client) { _ in
            held.signal()
            go.wait()
        }
        let (results, order) = await withCheckedContinuation { continuation in
            Thread.detachNewThread {
                held.wait()
                let order = Mutex<[Int]>([])
                let waiting = Collector(count: 21) { results in
                    continuation.resume(returning: (results, order.withLock { $0 }))
                }
                for number in 0..<20 {
                    store.commit([.enqueue(message(UInt64(number + 2)))], in: .client) { result in
                        order.withLock { $0.append(number) }
                        waiting.add(number, result)
                    }
                }
                store.commit([.removeOutgoing(id(2))], in: .client) { waiting.add(20, $0) }
                go.signal()
            }
        }
        let isAccepted = results.map { if case .success = $0 { true } else { false } }
        #expect(isAccepted == (0...20).map { $0 < 10 || $0 == 20 })
        #expect(order == Array(0..<20))
        #expect(try await store.outgoingIDs() == [1] + Array(3...11))
        await store.close()
    }

    @Test func `a message id above the highest allowed id is refused, and the highest id is stored`() async throws {
        let store = try open()
        #expect(await store.refusal([.enqueue(message(RowKey.highestMessageID + 1))]) == .storeFailed)
        try await store.commit(.enqueue(message(RowKey.highestMessageID)), .removeOutgoing(id(.max)))
        #expect(try await store.outgoingIDs() == [RowKey.highestMessageID])
        let behind = try await store.outgoing(in: .client, after: id(.max), limit: 1)
        #expect(behind.isEmpty)
        await store.close()
    }

    @Test func `opening a store throws if a limit is zero or negative`() throws {
        for limits in [SQLiteMessageStore.Limits(rows: 0), .init(bytes: -1), .init(logBytes: 0)] {
            #expect(throws: CourierError.self) { try open(.normal, limits) }
        }
    }

    // MARK: The file

    @Test func `only the owner can read the store's files and folder`() async throws {
        let deep = folder.url.appendingPathComponent("new/deep")
        let store = try SQLiteMessageStore(at: deep.appendingPathComponent("store"))
        try await store.commit(.enqueue(message(1)))
        func permissions(_ url: URL) throws -> Int? {
            try FileManager.default.attributesOfItem(atPath: url.path)[.posixPermissions] as? Int
        }
        #expect(try permissions(deep) == 0o700)
        let names = try FileManager.default.contentsOfDirectory(atPath: deep.path).sorted()
        #expect(names == ["store", "store-shm", "store-wal", "store.lock"])
        for name in names { #expect(try permissions(deep.appendingPathComponent(name)) == 0o600, "\(name)") }
        await store.close()
    }

    @Test func `a second store on the same file throws storeInUse until the first store is closed`() async throws {
        let first = try open()
        let error = #expect(throws: CourierError.self) { try open() }
        #expect(error?.code == .storeInUse && error?.message.contains(first.path) == true)
        // A path through a symbolic link is refused, too.
        let link = folder.url.appendingPathComponent("link")
        try FileManager.default.createSymbolicLink(at: link, withDestinationURL: folder.url)
        expectCourierError(.storeInUse) {
            try SQLiteMessageStore(at: link.appendingPathComponent(folder.file.lastPathComponent))
        }
        try await first.commit(.enqueue(message(1)))
        await first.close()
        let second = try open()
        #expect(try await second.outgoingIDs() == [1])
        await second.close()
    }

    @Test func `a store file becomes smaller when most of its pages are free`() async throws {
        let store = try open(.normal, SQLiteMessageStore.Limits(logBytes: 1 << 20))
        for number in 1...20 as ClosedRange<UInt64> {
            #expect(await store.refusal([.enqueue(message(number, bytes: 1_000_000))]) == nil)
        }
        #expect(await store.refusal([.removeAll]) == nil)
        // Each read lets the store continue its own work in the background.
        var free = Int64.max
        for _ in 0..<10_000 where free > 1_200 {
            _ = try await store.summary(of: .client)
            let database = try Database(path: folder.file.path, .reader, system: nil)
            free = try database.number("PRAGMA freelist_count", "testing")
        }
        #expect(free <= 1_200)
        await store.close()
        let size = try folder.bytes("store.courier").count
        #expect(size < 8 << 20, "the file has \(size) bytes")
    }

    @Test func `the log file of a store does not grow far above its size limit`() async throws {
        let store = try open(.normal, SQLiteMessageStore.Limits(logBytes: 200_000))
        for number in 1...300 as ClosedRange<UInt64> {
            try await store.commit(.enqueue(message(number, bytes: 3_000)), .removeOutgoing(id(number / 2)))
        }
        let size = try folder.bytes("store.courier-wal").count
        #expect(size < 400_000, "the log has \(size) bytes")
        await store.close()
    }

    @Test func `a scope (client id and broker) without rows is removed after 40 days, and a scope with rows is kept`()
        async throws
    {
        let (old, used) = (StoreScope(clientID: "old", broker: "b"), StoreScope(clientID: "used", broker: "b"))
        let store = try open()
        for scope in [old, used] { try await store.commit(.enqueue(message(5)), in: scope) }
        try await store.commit(.removeOutgoing(id(5)), in: old)
        await store.close()
        let soon = try open()
        #expect(try await soon.scopes().map(\.scope) == [old, used])
        await soon.close()
        let later = try SQLiteMessageStore(at: folder.file, date: { Date(timeIntervalSinceNow: 40 * 86_400) })
        #expect(try await later.scopes().map(\.scope) == [used])
        #expect(try await later.summary(of: old).lastMessageID == nil)
        await later.close()
    }
}
