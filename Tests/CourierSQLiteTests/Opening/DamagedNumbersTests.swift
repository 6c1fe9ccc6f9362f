import CourierCore
import Foundation
import Testing

@testable import CourierSQLite

/// Files that SQLite reads without an error, but with damaged numbers in their rows.
@Suite struct DamagedNumbersTests {
    private let folder: TemporaryFolder

    init() throws { folder = try TemporaryFolder() }

    private func quick() throws -> SQLiteMessageStore {
        try SQLiteMessageStore(
            at: folder.file, durability: .normal, limits: .default, system: FaultyDisk.quick.name)
    }

    /// Fills a store, closes it, and damages its file.
    private func damage(_ changes: [StoreChange], by sql: String) async throws {
        let store = try quick()
        #expect(await store.refusal(changes) == nil)
        await store.close()
        let database = try Database(path: folder.file.path, .owner, system: nil)
        try database.execute(sql, "testing")
        database.close()
    }

    @Test(arguments: ["rows", "bytes"])
    func `a stored row count that is wrong and above the limit is corrected, and new messages are stored`(
        column: String
    ) async throws {
        try await damage([.enqueue(message(1)), .keep(message(2))], by: "UPDATE scope SET \(column) = 1 << 46")
        let store = try quick()
        #expect(store.recovery?.savedRows == 2)
        #expect(await store.refusal([.enqueue(message(3))]) == nil)
        #expect(try await store.outgoingIDs() == [1, 3])
        await store.close()
    }

    @Test(arguments: [1, 2])
    func `all rows are recovered if the version number in the file header is older than the tables`(version: Int)
        async throws
    {
        try await damage([.enqueue(message(1)), .keep(message(2))], by: "PRAGMA user_version = \(version)")
        let store = try quick()
        #expect(store.recovery?.savedRows == 2)
        #expect(await store.refusal([.enqueue(message(3))]) == nil)
        await store.close()
    }

    // Byte 18 is the version for writers: SQLite only reads a file whose version is above 2. Byte 19 is the version for
    // readers. Byte 47 is the format of the schema; SQLite supports 1 to 4.
    @Test(arguments: [18, 19, 47])
    func `all rows are recovered if the header has an unknown format number`(position: Int) async throws {
        try await damage([.enqueue(message(1)), .keep(message(2))], by: "SELECT 1")
        var bytes = try folder.bytes("store.courier")
        bytes[position] = 9
        try write(bytes, to: folder.file.path)
        let store = try quick()
        #expect(store.recovery?.savedRows == 2)
        await store.close()
    }

    @Test func `a store with more rows than its new, lower limit opens without a recovery of the file`() async throws {
        try await damage((1...5).map { .enqueue(message($0)) }, by: "SELECT 1")
        let store = try SQLiteMessageStore(
            at: folder.file, durability: .normal, limits: .init(rows: 3), system: FaultyDisk.quick.name)
        #expect(store.recovery == nil)
        #expect(await store.refusal([.enqueue(message(6))]) == .storeFull)
        await store.close()
    }

    @Test func `the oldest rejected messages are removed even if their stored sizes are damaged`() async throws {
        let rejections = (1...2).map { StoreChange.reject(id($0), reason: "a", at: Date()) }
        try await damage(
            (1...3).map { .enqueue(message($0)) } + rejections, by: "UPDATE rejected SET size = 9223372036854775807")
        let store = try quick()
        #expect(await store.refusal([.reject(id(3), reason: "b", at: Date())]) == nil)
        #expect(try await store.rejected(in: .client, after: nil, limit: 9).map(\.message.id) == [id(3)])
        await store.close()
    }
}
