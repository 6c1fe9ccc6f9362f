import CourierCore
import Foundation
import Testing

@testable import CourierSQLite

/// Rejected messages, strikes and times since the boot in a file.
@Suite struct RejectedMessageTests {
    private static let date = Date(timeIntervalSinceReferenceDate: 800_000_200)

    private let folder: TemporaryFolder

    init() throws { folder = try TemporaryFolder() }

    private func open(
        _ limits: SQLiteMessageStore.Limits = .default, at date: Date = Date()
    ) throws -> SQLiteMessageStore {
        try SQLiteMessageStore(
            at: folder.file, durability: .normal, limits: limits, system: FaultyDisk.quick.name, date: { date })
    }

    private func rejectedIDs(_ store: SQLiteMessageStore) async throws -> [UInt64] {
        try await store.rejected(in: .client, after: nil, limit: .max).map(\.message.id.rawValue)
    }

    private func reject(_ number: UInt64) -> StoreChange { .reject(id(number), reason: "r", at: Self.date) }

    @Test func `above the count or byte limit, the oldest rejected messages are removed first`() async throws {
        let store = try open()
        let small = (1...1_010).map { StoreChange.enqueue(message($0)) }
        #expect(await store.refusal(small + (2...1_010).map { reject($0) } + [reject(1)]) == nil)
        // The first message was rejected last.
        #expect(try await rejectedIDs(store) == [1] + Array(12...1_010))
        for number in 2_001...2_003 as ClosedRange<UInt64> {
            #expect(await store.refusal([.enqueue(message(number, bytes: 6 << 20)), reject(number)]) == nil)
        }
        #expect(try await rejectedIDs(store) == [2_002, 2_003])
        #expect(await store.refusal([.enqueue(message(3_000, bytes: 17 << 20)), reject(3_000)]) == nil)
        #expect(try await rejectedIDs(store) == [2_002, 2_003])
        #expect(try await store.outgoingIDs().isEmpty)
        await store.close()
    }

    @Test func `rejected messages do not count toward the limits of the store`() async throws {
        let store = try open(SQLiteMessageStore.Limits(rows: 2))
        for number in 1...20 as ClosedRange<UInt64> {
            #expect(await store.refusal([.enqueue(message(number)), .enqueue(message(number + 100))]) == nil)
            #expect(await store.refusal([.enqueue(message(200))]) == .storeFull)
            #expect(await store.refusal([reject(number), .removeOutgoing(id(number + 100))]) == nil)
        }
        let summary = try await store.summary(of: .client)
        #expect(summary.outgoingCount == 0 && summary.payloadBytes == 0)
        #expect(try await rejectedIDs(store) == Array(1...20))
        await store.close()
    }

    @Test func `a refused batch leaves rejected and outgoing messages unchanged`() async throws {
        let store = try open(SQLiteMessageStore.Limits(rows: 2))
        try await store.commit(.enqueue(message(1)), .enqueue(message(2)), reject(1))
        let batch = [.removeRejected(id(1)), reject(2)] + (3...5).map { StoreChange.enqueue(message($0)) }
        #expect(await store.refusal(batch) == .storeFull)
        #expect(try await rejectedIDs(store) == [1])
        #expect(try await store.outgoingIDs() == [2])
        await store.close()
    }

    @Test func `a scope (client id and broker) with rejected messages is not removed, even after many years`()
        async throws
    {
        let first = try open(at: Self.date)
        try await first.commit(.enqueue(message(7)), reject(7))
        await first.close()
        for _ in 0..<2 {
            let later = try open(at: Self.date + 1e9)
            #expect(try await rejectedIDs(later) == [7])
            #expect(try await later.summary(of: .client).lastMessageID == id(7))
            await later.close()
        }
        let last = try open(at: Self.date + 1e9)
        try await last.commit(.removeRejected(id(7)))
        await last.close()
        let forgotten = try open(at: Self.date + 2e9)
        #expect(try await forgotten.scopes().isEmpty)
        await forgotten.close()
    }

    @Test func `recovery of a damaged store restores strikes (failure counts), boot times, rejected messages and jobs`()
        async throws
    {
        let store = try open()
        var model = StoreModel()
        let bootTime = BootTime(bootID: UUID(), sinceBoot: .nanoseconds(77_000_000_123))
        let state = StoredJob.State(
            processor: "orders", attempts: 3, lastError: "No paper.",
            stage: .waiting(.seconds(8), since: StoreTime(date: Self.date, bootTime: bootTime)))
        let batch =
            (1...40).map { StoreChange.enqueue(message($0, bytes: 300, bootTime: bootTime, isLatestOnly: true)) }
            + (1...40).map { .keep(message($0, bootTime: bootTime)) }
            + [.strike(id(3), count: 2), reject(1), reject(40), .strike(id(2), count: 1)]
            + (41...60).map { .addJob(StoredJob(message($0, bytes: 300, bootTime: bootTime), state)) }
            + [.rememberKey(ProcessedKey(processor: "orders", key: "7", handledAt: StoreTime(date: Self.date)))]
        #expect(await store.refusal(batch) == nil)
        model.apply(batch)
        await store.close()
        var bytes = try folder.bytes("store.courier")
        bytes.replaceSubrange(0..<16, with: Data(count: 16))  // These bytes are not the header of a database.
        try write(bytes, to: folder.file.path)
        let again = try open()
        #expect(again.recovery != nil)
        #expect(try await again.contents() == model.contents())
        await again.close()
    }

    @Test func `an export of a store contains all fields of a rejected message`() async throws {
        let store = try open()
        let bootTime = BootTime(
            bootID: try #require(UUID(uuidString: "E0EABFA0-8699-46CC-882C-6DBB3EE1B346")),
            sinceBoot: .milliseconds(1_500))
        try await store.commit(
            .enqueue(message(1, bytes: 1, bootTime: bootTime, isLatestOnly: true)),
            .progress(id(1), .sent(packetID: 5)), .strike(id(1), count: 3), reject(1))
        var lines: [String] = []
        try SQLiteStoreInspector(at: folder.file).export { lines.append($0) }
        #expect(
            lines == [
                #"{"bootID":"E0EABFA0-8699-46CC-882C-6DBB3EE1B346","broker":"broker:1883","clientID":"client","id":1,"isLatestOnly":true,"isRetained":false,"kind":"rejected","packetID":5,"payload":"AQ==","progress":"sent","qos":1,"reason":"r","rejectedAt":"2026-05-09T06:16:40Z","secondsSinceBoot":1.5,"storedAt":"2026-05-09T06:13:20Z","strikes":3,"topic":"a/b"}"#
            ])
        await store.close()
    }

    @Test func `after a date change or a reboot, a store still removes only expired messages`() async throws {
        let (boot, start) = (UUID(), message(1).storedAt)
        func bootTime(_ seconds: Int) -> BootTime { BootTime(bootID: boot, sinceBoot: .seconds(seconds)) }
        let store = try open()
        let rows = (1...500).map { message($0, expiresAt: start + Double($0), bootTime: bootTime(1_000)) }
        #expect(await store.refusal(rows.map { .keep($0) }) == nil)
        await store.close()
        let again = try open()
        // The clock was set one day ahead, and 100 s have passed.
        let time = StoreTime(date: start + 86_400, bootTime: bootTime(1_100))
        try await again.commit(.removeExpired(at: time))
        let left = try await again.incoming(in: .client, matching: nil, after: nil, limit: .max, at: time)
        #expect(left.map(\.id.rawValue) == Array(101...500))
        let earlier = StoreTime(date: start - 86_400, bootTime: bootTime(1_200))
        try await again.commit(.removeExpired(at: earlier))
        #expect(try await again.summary(of: .client).incomingCount == 300)
        try await again.commit(
            .removeExpired(
                at: StoreTime(date: start + 300, bootTime: BootTime(bootID: UUID(), sinceBoot: .seconds(5_000)))))
        #expect(try await again.summary(of: .client).incomingCount == 200)
        await again.close()
    }
}
