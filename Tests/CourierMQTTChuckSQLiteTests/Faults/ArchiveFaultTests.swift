import CourierCore
import CourierMQTTChuck
import CourierSQLite
import Foundation
import TestSupport
import Testing

@testable import CourierMQTTChuckSQLite

/// An archive on a disk that is full or broken, or with a file that is locked or damaged.
@Suite(.timeLimit(.minutes(5))) struct ArchiveFaultTests {
    private let folder: TemporaryFolder
    private let disk = FaultyDisk()

    init() throws { folder = try TemporaryFolder() }

    private var url: URL { URL(fileURLWithPath: folder.file("session.chuck")) }

    private static func logger(rows: Int = 100_000) -> MQTTChuckLogger {
        var options = MQTTChuckOptions()
        options.logsMaxSize = rows
        return MQTTChuckLogger(options: options)
    }

    /// An archive on the faulty disk. By default, it retries a failed write only if `flush()` is called.
    private func archive(
        of logger: MQTTChuckLogger, patience: Duration = .seconds(3_600)
    ) throws -> MQTTChuckArchive {
        try MQTTChuckArchive(of: logger, at: url, interval: .seconds(3_600), system: disk.name, patience: patience)
    }

    private var isQuarantined: Bool { FileManager.default.fileExists(atPath: url.path + ".damaged-1") }

    // MARK: A full disk

    @Test func `on a full disk, the archive reports storeFull and writes again when there is space`() async throws {
        let logger = Self.logger(rows: 10)
        let archive = try archive(of: logger)
        let traffic = Traffic(logger)
        try traffic.exchange(0)
        try await archive.flush()
        #expect(archive.status.writtenRows == 4 && archive.status.failure == nil)

        disk.fail(FaultyDisk.Plan(first: 1, count: .max / 2, isFull: true, calls: [.write]))
        for number in 1...10 {
            try traffic.exchange(number)
            let error = await #expect(throws: CourierError.self) { try await archive.flush() }
            #expect(error?.code == .storeFull)
            #expect(error?.message.contains(archive.url.path) == true)
        }
        #expect(archive.status.failure?.code == .storeFull)
        #expect(archive.status.writtenRows == 4 && archive.status.quarantinedFile == nil)
        // The logger continued, as it would without an archive.
        #expect(logger.summary.nextRow == 45 && logger.summary.rowCount == 10)
        #expect(logger.rows().rows.map(\.number) == Array(35...44))
        // The rows that were written before can still be read.
        #expect(try MQTTChuckArchive.logger(of: url).rows().rows.map(\.number) == Array(1...4))

        disk.heal()
        try await archive.flush()
        #expect(archive.status.failure == nil)
        #expect(archive.status.writtenRows == 14)
        #expect(archive.status.missedRows == 30)
        try traffic.exchange(11)
        await archive.close()
        #expect(archive.status.writtenRows == 18 && archive.status.missedRows == 30)
        let rows = try MQTTChuckArchive.logger(of: url).rows().rows
        #expect(rows.map(\.number) == Array(1...4) + Array(35...48))
        #expect(rows.last { $0.topic == "orders/11" }?.roundTrip == .milliseconds(10))
    }

    @Test func `an archive repeats a failed write without another call of flush()`() async throws {
        let logger = Self.logger()
        let archive = try archive(of: logger, patience: .milliseconds(1))
        disk.fail(FaultyDisk.Plan(first: 1, count: 20, isFull: true, calls: [.write]))
        try Traffic(logger).exchange(1)
        _ = try? await archive.flush()  // Without this call, the archive would wait an hour for more rows.
        while archive.status.writtenRows < 4 { await Task.yield() }
        #expect(disk.failures == 20 && archive.status.failure == nil)
        await archive.close()
        #expect(try MQTTChuckArchive.logger(of: url).rows().rows == logger.rows().rows)
    }

    @Test func `if the disk is full, close() still returns, and the status reports storeFull`() async throws {
        let logger = Self.logger()
        let archive = try archive(of: logger)
        disk.fail(FaultyDisk.Plan(first: 1, count: .max / 2, isFull: true, calls: [.write]))
        try Traffic(logger).exchange(1)
        await archive.close()
        #expect(archive.status.failure?.code == .storeFull && archive.status.writtenRows == 0)
        disk.heal()
        #expect(try MQTTChuckArchive.logger(of: url).summary.rowCount == 0)
        #expect(logger.summary.rowCount == 4 && !isQuarantined)
    }

    // MARK: A broken disk

    /// - Returns: True if any call failed.
    private func run(_ plan: FaultyDisk.Plan) async throws -> Bool {
        let folder = try TemporaryFolder()
        let url = URL(fileURLWithPath: folder.file("session.chuck"))
        let logger = Self.logger()
        let traffic = Traffic(logger)
        disk.fail(plan)
        func retrying<Value>(_ work: () async throws -> Value) async throws -> Value {
            for _ in 0..<plan.count {
                do { return try await work() } catch let error as CourierError {
                    let isExpected = error.code == .storeFailed || error.code == .storeFull
                    #expect(isExpected, "call \(plan.first): \(error)")
                }
            }
            return try await work()
        }
        let archive = try await retrying {
            try MQTTChuckArchive(
                of: logger, at: url, retention: MQTTChuckArchive.Retention(rows: 100), interval: .seconds(3_600),
                system: disk.name, patience: .seconds(3_600))
        }
        for number in 0..<40 {
            try traffic.exchange(number)
            if number % 10 == 0 { try await retrying { try await archive.flush() } }
        }
        try await retrying { try await archive.flush() }
        let failures = disk.failures
        #expect(archive.status.writtenRows == 160 && archive.status.missedRows == 0, "call \(plan.first)")
        #expect(archive.status.failure == nil && archive.status.quarantinedFile == nil, "call \(plan.first)")
        await archive.close()
        disk.heal()
        let rows = try MQTTChuckArchive.logger(of: url).rows().rows
        #expect(rows == logger.rows(from: 61).rows, "call \(plan.first)")
        #expect(!FileManager.default.fileExists(atPath: url.path + ".damaged-1"), "call \(plan.first)")
        return failures > 0
    }

    @Test(arguments: [(1, false), (1, true), (10, false)])
    func `an archive loses no row if system calls to the disk fail`(count: Int, isFull: Bool) async throws {
        var call = 1
        while try await run(FaultyDisk.Plan(first: call, count: count, isFull: isFull)) { call += 1 }
        #expect(call > 40, "the scenario makes only \(call) calls")
    }

    @Test func `if another database connection locks the file, the archive waits, but the logger does not`()
        async throws
    {
        let logger = Self.logger()
        let archive = try archive(of: logger)
        let traffic = Traffic(logger)
        try traffic.exchange(0)
        try await archive.flush()
        let other = try Database(path: url.path, .owner, system: nil)
        try other.execute("BEGIN IMMEDIATE", "test")
        async let flushed: Void = archive.flush()
        for number in 1..<1_000 { try traffic.exchange(number) }
        #expect(logger.summary.rowCount == 4_000 && archive.status.writtenRows == 4)
        try other.execute("COMMIT", "test")
        _ = try? await flushed  // On a busy machine, this call can throw, because the file was locked for too long.
        try await archive.flush()
        await archive.close()
        #expect(try MQTTChuckArchive.logger(of: url).rows(limit: .max).rows == logger.rows(limit: .max).rows)
    }

    // MARK: Damage

    /// Damages the file while the archive has it open: the table of packets gets a root page that does not exist.
    private func damage() throws {
        let other = try Database(path: url.path, .owner, system: nil)
        try other.execute(
            """
            PRAGMA writable_schema = ON; UPDATE sqlite_schema SET rootpage = 99999 WHERE name = 'packet';
            PRAGMA schema_version = 1000
            """, "test")
    }

    @Test(arguments: [true, false])
    func `an archive file that is damaged while open is quarantined, and unwritten rows go to a new file`(
        isClosing: Bool
    ) async throws {
        let logger = Self.logger()
        let archive = try archive(of: logger)
        let traffic = Traffic(logger)
        try traffic.exchange(1)
        try await archive.flush()
        try damage()
        try traffic.exchange(2)
        if isClosing { await archive.close() } else { try await archive.flush() }
        #expect(archive.status.writtenRows == 8 && archive.status.missedRows == 0)
        #expect(archive.status.failure == nil)
        let quarantinedFile = try #require(archive.status.quarantinedFile)
        #expect(quarantinedFile.error.code == .storeDamaged)
        #expect(quarantinedFile.url.path == url.path + ".damaged-1" && isQuarantined)
        #expect(try MQTTChuckArchive.logger(of: url).rows().rows == logger.rows(from: 5).rows)
        let mode = try FileManager.default.attributesOfItem(atPath: url.path)[.posixPermissions] as? Int
        #expect(mode == 0o600)
        try traffic.exchange(3)
        await archive.close()
        #expect(try MQTTChuckArchive.logger(of: url).summary.rowCount == (isClosing ? 4 : 8))
    }

    @Test func `an open archive quarantines the first damaged file, and reports storeDamaged for the second file`()
        async throws
    {
        let logger = Self.logger()
        let archive = try archive(of: logger)
        let traffic = Traffic(logger)
        for _ in 1...2 {
            try traffic.exchange(1)
            try await archive.flush()
            try damage()
        }
        try traffic.exchange(2)
        for _ in 0..<5 {
            let error = await #expect(throws: CourierError.self) { try await archive.flush() }
            #expect(error?.code == .storeDamaged)
        }
        #expect(archive.status.failure?.code == .storeDamaged)
        #expect(archive.status.quarantinedFile?.url.path == url.path + ".damaged-1")
        #expect(!FileManager.default.fileExists(atPath: url.path + ".damaged-2"))
        #expect(logger.summary.rowCount == 12)
        await archive.close()
        // The next archive quarantines the second damaged file.
        let next = try self.archive(of: logger)
        #expect(next.status.quarantinedFile?.url.path == url.path + ".damaged-2")
        await next.close()
        #expect(try MQTTChuckArchive.logger(of: url).rows().rows == logger.rows().rows)
    }
}
