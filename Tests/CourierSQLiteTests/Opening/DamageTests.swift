import CourierCore
import Foundation
import Synchronization
import TestSupport
import Testing

@testable import CourierSQLite

/// Damaged and foreign files: opening never fails or crashes, and recovers the rows that can be read.
@Suite struct DamageTests {
    private let folder: TemporaryFolder
    private static let rows: UInt64 = 400

    init() throws { folder = try TemporaryFolder() }

    private func quick() throws -> SQLiteMessageStore {
        try SQLiteMessageStore(
            at: folder.file, durability: .normal, limits: .default, system: FaultyDisk.quick.name)
    }

    /// Fills a store with messages in both directions, packet ids and subscriptions, and closes it.
    private func fill() async throws -> StoreModel {
        let store = try quick()
        var model = StoreModel()
        let batch =
            (1...Self.rows).flatMap { number -> [StoreChange] in
                [.enqueue(message(number, bytes: 200)), .keep(message(number, bytes: Int(number % 50) * 300))]
            } + (1...50).map { .rememberPacketID($0) } + [
                .want(StoredSubscription(try TopicFilter("a/#"), .subscribed(.one))),
                .progress(id(7), .received(packetID: 7)),
            ]
        #expect(await store.refusal(batch) == nil)
        model.apply(batch)
        await store.close()
        return model
    }

    /// Opens the store at the path, stores a message and closes it.
    ///
    /// - Returns: The contents of the store, and the recovery of the old file, if there was one.
    private func open(_ place: String) async throws -> (contents: StoreContents, recovery: StoreRecovery?) {
        let store = try quick()
        let contents = try await store.contents()
        // New messages are stored, whatever the file contained.
        let next = (contents.summary.lastMessageID?.rawValue ?? 0) + 1
        #expect(await store.refusal([.enqueue(message(next))]) == nil, "\(place)")
        #expect(try await store.outgoing(in: .client, after: id(next - 1), limit: 9).count == 1, "\(place)")
        let recovery = store.recovery
        await store.close()
        if let recovery {
            #expect(recovery.error.code == .storeDamaged)
            #expect(FileManager.default.fileExists(atPath: recovery.quarantinedFile.path))
        }
        let again = try quick()
        #expect(again.recovery == nil, "\(place): the new file is damaged too")
        await again.close()
        return (contents, recovery)
    }

    private func write(_ bytes: Data) throws {
        for name in folder.names { try FileManager.default.removeItem(at: folder.url.appendingPathComponent(name)) }
        try CourierSQLiteTests.write(bytes, to: folder.file.path)
    }

    @Test func `an empty file opens as a new store`() async throws {
        try write(Data())
        let (contents, recovery) = try await open("empty")
        #expect(recovery == nil && contents.outgoing.isEmpty)
    }

    @Test(arguments: [2, 99, 100, 4_096, 100_000])
    func `a file of random bytes is quarantined, and a new store is created`(count: Int) async throws {
        var random = SeededGenerator(seed: 5)
        let bytes = Data((0..<count).map { _ in UInt8.random(in: 1...255, using: &random) })
        try write(bytes)
        let (contents, recovery) = try await open("\(count) bytes")
        let aside = try #require(recovery?.quarantinedFile)
        #expect(try Data(contentsOf: aside) == bytes)
        #expect(aside.lastPathComponent == "store.courier.damaged-1")
        #expect(contents.outgoing.isEmpty && recovery?.savedRows == 0)
        #expect(folder.names == ["store.courier", "store.courier.damaged-1", "store.courier.lock"])
    }

    @Test func `databases of another application are quarantined unchanged, each under a new name`() async throws {
        for number in 1...3 {
            let store = folder.file
            try? FileManager.default.removeItem(at: store)
            try PrivateFile.prepare(store.path)
            let other = try Database(path: store.path, .owner, system: nil)
            try other.execute(
                "CREATE TABLE outgoing (x); PRAGMA application_id = 5; PRAGMA user_version = 1", "testing")
            other.close()
            let bytes = try Data(contentsOf: store)
            let (_, recovery) = try await open("foreign")
            #expect(recovery?.quarantinedFile.lastPathComponent == "store.courier.damaged-\(number)")
            #expect(try Data(contentsOf: try #require(recovery?.quarantinedFile)) == bytes)
        }
    }

    @Test func `a truncated file opens with the rows that can still be read`() async throws {
        let whole = try await fill().contents()
        let bytes = try folder.bytes("store.courier")
        var saved: [Int] = []
        for end in stride(from: 4_096, to: bytes.count, by: 4_096 * 16) {
            try write(bytes.prefix(end))
            let (contents, recovery) = try await open("cut at \(end)")
            #expect(recovery != nil, "cut at \(end)")
            #expect(Set(contents.outgoing).isSubset(of: whole.outgoing))
            #expect(Set(contents.incoming).isSubset(of: whole.incoming))
            #expect(contents.summary.outgoingCount == contents.outgoing.count)
            saved.append(contents.outgoing.count + contents.incoming.count)
        }
        #expect(saved.last.map { $0 > Int(Self.rows) } == true, "saved: \(saved)")
    }

    @Test func `if one page of a store file is damaged, at most half of the rows are lost, except in rare cases`()
        async throws
    {
        let whole = try await fill().contents()
        let bytes = try folder.bytes("store.courier")
        let pages = bytes.count / 4_096
        var total = 0
        var lostMost = 0
        for page in stride(from: 0, to: pages, by: 13) {
            var broken = bytes
            broken.replaceSubrange(page * 4_096..<(page + 1) * 4_096, with: Data(repeating: 0xA5, count: 4_096))
            try write(broken)
            let (contents, _) = try await open("page \(page)")
            total += 1
            #expect(Set(contents.outgoing.map(\.message)).isSubset(of: whole.outgoing.map(\.message)), "page \(page)")
            let saved = contents.outgoing.count + contents.incoming.count
            if saved < Int(Self.rows) { lostMost += 1 }
        }
        // A broken inner page of the tree also loses the pages below it. There are few inner pages.
        #expect(lostMost <= total / 5, "\(lostMost) of \(total)")
    }

    @Test func `all rows are recovered from a file with a broken header`() async throws {
        let whole = try await fill().contents()
        var bytes = try folder.bytes("store.courier")
        bytes.replaceSubrange(0..<100, with: Data(repeating: 0x55, count: 100))
        try write(bytes)
        let (contents, recovery) = try await open("first page")
        #expect(recovery != nil)
        #expect(contents == whole)
    }

    /// Bytes 60 to 63 are the version, and bytes 68 to 71 are the application id.
    @Test(arguments: [(60, [0xFF, 0xFF, 0xFF, 0xFF]), (60, [0, 0, 0, 0]), (68, [0x42])] as [(Int, [UInt8])])
    func `all rows are recovered if the version or application id is wrong`(offset: Int, field: [UInt8]) async throws {
        let whole = try await fill().contents()
        var bytes = try folder.bytes("store.courier")
        bytes.replaceSubrange(offset..<offset + field.count, with: field)
        try write(bytes)
        let (contents, recovery) = try await open("\(field) at \(offset)")
        #expect(recovery != nil)
        #expect(contents == whole)
    }

    @Test func `a store opens and accepts messages if random bytes of its file were changed`() async throws {
        _ = try await fill()
        let bytes = try folder.bytes("store.courier")
        var random = SeededGenerator(seed: 11)
        var recoveries = 0
        for round in 0..<80 {
            var flipped = bytes
            for _ in 0..<Int.random(in: 1...20, using: &random) {
                // Half of the rounds change only the first pages, which contain the schema and the roots of the trees.
                let range = round.isMultiple(of: 2) ? bytes.count : 12 * 4_096
                flipped[Int.random(in: 0..<range, using: &random)] = UInt8.random(in: 0...255, using: &random)
            }
            try write(flipped)
            if try await open("round \(round)").recovery != nil { recoveries += 1 }
        }
        #expect(recoveries > 10)
    }

    @Test func `an open store recovers its file when a read finds a damaged page`() async throws {
        // More pages than the store checks when it opens a file.
        let first = try quick()
        for start in stride(from: UInt64(0), to: 2_000, by: 200) {
            #expect(await first.refusal((start + 1...start + 200).map { .enqueue(message($0, bytes: 3_000)) }) == nil)
        }
        await first.close()
        var bytes = try folder.bytes("store.courier")
        let middle = bytes.count / 2 / 4_096 * 4_096
        bytes.replaceSubrange(middle..<middle + 4_096, with: Data(repeating: 0xFF, count: 4_096))
        try write(bytes)
        let recoveries = Mutex<[StoreRecovery]>([])
        let store = try SQLiteMessageStore(
            at: folder.file, durability: .normal, limits: .default, system: FaultyDisk.quick.name,
            onRecovery: { recovery in recoveries.withLock { $0.append(recovery) } })
        #expect(store.recovery == nil)
        let ids = try await store.outgoingIDs()
        #expect(ids.count > 1_990 && ids.count < 2_000)
        #expect(store.recovery?.savedRows == ids.count)
        #expect(recoveries.withLock { $0.count } == 1)
        #expect(await store.refusal([.removeOutgoing(id(ids[0])), .enqueue(message(3_000))]) == nil)
        #expect(try await store.outgoingIDs() == ids.dropFirst() + [3_000])
        await store.close()
    }

    @Test func `an interrupted recovery is completed when the store is opened again`() async throws {
        let whole = try await fill().contents()
        // As if the process had ended after all rows were saved, but before the files were renamed.
        let saved = try folder.bytes("store.courier")
        try write(Data(repeating: 7, count: 5_000))
        try saved.write(to: folder.url.appendingPathComponent("store.courier.recovered"))
        try Data(repeating: 8, count: 5_000).write(to: folder.url.appendingPathComponent("store.courier-wal"))
        // An incomplete file of an earlier attempt.
        try Data(repeating: 9, count: 10).write(to: folder.url.appendingPathComponent("store.courier.recovering"))
        let (contents, recovery) = try await open("cut short")
        #expect(contents == whole && recovery == nil)
        #expect(try folder.bytes("store.courier.damaged-1") == Data(repeating: 7, count: 5_000))
        #expect(try folder.bytes("store.courier.damaged-1-wal") == Data(repeating: 8, count: 5_000))
        #expect(!folder.names.contains { $0.contains("recover") })
    }

    @Test func `a store with an invalid log file opens with all rows`() async throws {
        let whole = try await fill().contents()
        try Data(repeating: 1, count: 9_000).write(to: folder.url.appendingPathComponent("store.courier-wal"))
        let (contents, recovery) = try await open("log")
        #expect(contents == whole && recovery == nil)
    }

    @Test func `a store with an invalid lock file opens with all rows`() async throws {
        let whole = try await fill().contents()
        try Data(repeating: 1, count: 9_000).write(to: folder.url.appendingPathComponent("store.courier.lock"))
        let (contents, recovery) = try await open("lock")
        #expect(contents == whole && recovery == nil)
    }

    @Test func `opening a store throws storeFailed if the path is a folder`() throws {
        try FileManager.default.createDirectory(at: folder.file, withIntermediateDirectories: true)
        let error = #expect(throws: CourierError.self) { try SQLiteMessageStore(at: folder.file) }
        #expect(error?.code == .storeFailed && error?.message.contains("is a folder") == true)
        #expect(folder.names == ["store.courier"])
    }

    @Test func `opening a store throws storeFailed with the path if the folder is not writable`() throws {
        // Not even root can create files in /proc.
        let error = #expect(throws: CourierError.self) {
            try SQLiteMessageStore(at: URL(fileURLWithPath: "/proc/courier/store"))
        }
        #expect(error?.code == .storeFailed && error?.message.contains("/proc/courier") == true)
        let inside = #expect(throws: CourierError.self) {
            try SQLiteMessageStore(at: URL(fileURLWithPath: "/proc/store"))
        }
        #expect(inside?.code == .storeFailed && inside?.message.contains("/proc/store") == true)
    }
}
