import CourierCore
import Foundation
import Testing

@testable import CourierSQLite

/// Each disk call of a scenario fails once. The scenario writes, moves the log, closes and reopens the store.
@Suite struct FaultTests {
    /// Groups of three batches with many kinds of changes.
    private static func groups() throws -> [[[StoreChange]]] {
        let filter = try TopicFilter("a/#")
        return [
            [
                [.enqueue(message(1, bytes: 3_000)), .enqueue(message(2))], [.keep(message(3, bytes: 9_000))],
                [.rememberPacketID(7), .want(StoredSubscription(filter, .subscribed(.one)))],
            ],
            [
                [.progress(id(1), .sent(packetID: 9))], [.enqueue(message(4, bytes: 20_000))],
                [.removeOutgoing(id(2)), .enqueue(message(5))],
            ],
            [
                [.progress(id(1), .received(packetID: 9)), .forgetPacketID(7)], [.removeIncoming(id(3))],
                [.enqueue(message(6, bytes: 5_000)), .rememberPacketID(8)],
            ],
            [
                [.removeOutgoing(id(1))], [.want(StoredSubscription(filter, .unsubscribing))],
                [.enqueue(message(7)), .removeOutgoing(id(4))],
            ],
        ]
    }

    /// - Returns: True if any call failed.
    private func run(_ plan: FaultyDisk.Plan, _ disk: FaultyDisk) async throws -> Bool {
        let folder = try TemporaryFolder()
        // A small limit, so that the log is moved during the run.
        let limits = SQLiteMessageStore.Limits(logBytes: 16_384)
        func open() throws(CourierError) -> SQLiteMessageStore {
            try SQLiteMessageStore(at: folder.file, durability: .full, limits: limits, system: disk.name)
        }
        disk.fail(plan)
        var model = StoreModel()
        var store: SQLiteMessageStore?
        for _ in 0...plan.count where store == nil {
            do throws(CourierError) {
                store = try open()
            } catch {
                let isExpected = error.code == .storeFailed || error.code == .storeFull
                #expect(isExpected, "call \(plan.first): opening fails with \(error)")
            }
        }
        let opened = try #require(store, "call \(plan.first): the store does not open when the disk is well again")
        for group in try Self.groups() {
            let results = await withCheckedContinuation { continuation in
                let waiting = Collector(count: group.count) { continuation.resume(returning: $0) }
                for (index, batch) in group.enumerated() {
                    opened.commit(batch, in: .client) { waiting.add(index, $0) }
                }
            }
            for (batch, result) in zip(group, results) {
                switch result {
                case .success: model.apply(batch)
                case .failure(let error):
                    let isExpected = error.code == .storeFailed || error.code == .storeFull
                    #expect(isExpected, "call \(plan.first): a batch fails with \(error)")
                    #expect(error.message.contains(opened.path) && error.cause is SQLiteFailure)
                }
            }
        }
        let failures = disk.failures
        disk.heal()
        try await opened.commit(.enqueue(message(8)))
        model.apply([.enqueue(message(8))])
        let before = try await opened.contents()
        #expect(before == model.contents(), "call \(plan.first): what the store holds before it is closed")
        await opened.close()
        let again = try open()
        #expect(again.recovery == nil, "call \(plan.first): the file is damaged")
        let after = try await again.contents()
        #expect(after == model.contents(), "call \(plan.first): what the file holds")
        await again.close()
        return failures > 0
    }

    @Test(arguments: [(1, false), (1, true), (30, false)])
    func `after a failed disk call, the store contains exactly the batches that reported success`(
        count: Int, isFull: Bool
    ) async throws {
        let disk = FaultyDisk()
        var call = 1
        while try await run(FaultyDisk.Plan(first: call, count: count, isFull: isFull), disk) { call += 1 }
        #expect(call > 60, "the scenario makes only \(call) calls")
    }

    @Test func `a store refuses batches while the disk is full, and accepts new batches afterwards`() async throws {
        let (disk, folder) = (FaultyDisk(), try TemporaryFolder())
        let store = try SQLiteMessageStore(
            at: folder.file, durability: .normal, limits: .default, system: disk.name)
        try await store.commit(.enqueue(message(1)))
        disk.fail(FaultyDisk.Plan(first: 1, count: .max / 2, isFull: true, calls: [.write]))
        for number in 2...9 as ClosedRange<UInt64> {
            #expect(await store.refusal([.enqueue(message(number))]) == .storeFull)
        }
        #expect(try await store.outgoingIDs() == [1])
        disk.heal()
        try await store.commit(.enqueue(message(10)))
        #expect(try await store.outgoingIDs() == [1, 10])
        await store.close()
    }
}
