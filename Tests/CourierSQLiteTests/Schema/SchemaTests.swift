import CourierCore
import Foundation
import Testing

@testable import CourierSQLite

@Suite struct SchemaTests {
    private let folder: TemporaryFolder

    init() throws { folder = try TemporaryFolder() }

    private func open(_ schema: Schema) throws -> SQLiteMessageStore {
        try SQLiteMessageStore(at: folder.file, durability: .normal, limits: .default, system: nil, schema: schema)
    }

    private func number(_ sql: String) throws -> Int64 {
        try Database(path: folder.file.path, .reader, system: nil).number(sql, "testing")
    }

    private static let later = Schema(
        steps: Schema.current.steps + [
            Schema.Step(sql: "CREATE TABLE note (text TEXT)"),
            Schema.Step(sql: "INSERT INTO note SELECT topic FROM outgoing"),
        ])

    @Test func `opening a file without tables creates the tables and sets the application id and version`() async throws
    {
        // Version 0: the file after a crash during the first opening.
        try PrivateFile.prepare(folder.file.path)
        let bare = try Database(path: folder.file.path, .owner, system: nil)
        _ = try bare.text("PRAGMA journal_mode = WAL", "testing")
        bare.close()
        let store = try open(.current)
        try await store.commit(.enqueue(message(1)))
        #expect(store.recovery == nil)
        await store.close()
        #expect(try number("PRAGMA application_id") == Schema.applicationID)
        #expect(try number("PRAGMA user_version") == Schema.current.version)
    }

    @Test func `opening an older file runs each new migration step once and keeps all rows`() async throws {
        let old = try open(.current)
        try await old.commit(.enqueue(message(1)), .enqueue(message(2)))
        await old.close()
        for _ in 0..<2 {
            let new = try open(Self.later)
            #expect(try await new.outgoingIDs() == [1, 2] && new.recovery == nil)
            await new.close()
        }
        #expect(try number("PRAGMA user_version") == Schema.current.version + 2)
        #expect(try number("SELECT count(*) FROM note") == 2)
    }

    @Test func `a failed migration step leaves the file unchanged`() async throws {
        let old = try open(.current)
        try await old.commit(.enqueue(message(1)))
        await old.close()
        let broken = Schema(steps: Self.later.steps + [Schema.Step(sql: "INSERT INTO nowhere VALUES (1)")])
        let error = #expect(throws: CourierError.self) { try open(broken) }
        #expect(error?.code == .storeFailed)
        #expect(try number("PRAGMA user_version") == Schema.current.version)
        let again = try open(.current)
        #expect(try await again.outgoingIDs() == [1])
        await again.close()
    }

    @Test func `a store file of a newer version throws storeFailed and is not changed`() async throws {
        let new = try open(Self.later)
        try await new.commit(.enqueue(message(1)))
        await new.close()
        let before = try folder.bytes("store.courier")
        let error = #expect(throws: CourierError.self) { try open(.current) }
        #expect(error?.code == .storeFailed && error?.message.contains("version \(Schema.current.version + 2)") == true)
        #expect(try folder.bytes("store.courier") == before)
        #expect(!folder.names.contains { $0.contains("damaged") })
    }
}
