import CourierCore
import CourierTesting
import Synchronization
import Testing

@testable import CourierSQLite

@Suite struct SQLiteMessageStoreLawsTests {
    /// Keeps the folders of the stores while the test runs.
    private final class Folders: Sendable {
        private let all = Mutex<[TemporaryFolder]>([])

        func add() throws -> TemporaryFolder {
            let folder = try TemporaryFolder()
            all.withLock { $0.append(folder) }
            return folder
        }
    }

    @Test(arguments: SQLiteMessageStore.Durability.allCases)
    func `an SQLite store passes the MessageStoreLaws checks`(durability: SQLiteMessageStore.Durability) async throws {
        let folders = Folders()
        try await MessageStoreLaws.check {
            try SQLiteMessageStore(
                at: try folders.add().file, durability: durability, limits: .default, system: FaultyDisk.quick.name)
        }
    }

    @Test func `an SQLite store passes the MessageStoreLaws checks for row and byte limits`() async throws {
        let folders = Folders()
        let limits = [SQLiteMessageStore.Limits(rows: 99), SQLiteMessageStore.Limits(bytes: 100_000)]
        for limits in limits {
            try await MessageStoreLaws.checkLimits {
                try SQLiteMessageStore(
                    at: try folders.add().file, durability: .normal, limits: limits, system: FaultyDisk.quick.name)
            }
        }
    }
}
