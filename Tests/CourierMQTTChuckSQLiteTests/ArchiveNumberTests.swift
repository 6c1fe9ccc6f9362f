import CourierCore
import CourierSQLite
import Foundation
import MQTTCodec
import TestSupport
import Testing

@testable import CourierMQTTChuck
@testable import CourierMQTTChuckSQLite

/// Archives with extreme row numbers, sizes and times.
@Suite(.timeLimit(.minutes(5))) struct ArchiveNumberTests {
    private static let largest = PacketRestoring.largestNumber

    private let folder: TemporaryFolder

    init() throws { folder = try TemporaryFolder() }

    private var url: URL { URL(fileURLWithPath: folder.file("session.chuck")) }

    private static func record(_ number: UInt64, start: UInt64? = nil) -> PacketRecord {
        PacketRecord(
            number: number, bytes: [0xC0, 0], wholeSize: 2, direction: .outgoing, time: 0,
            connection: MQTTChuckConnection(
                id: 1, ordinal: 1, clientID: "recorded", host: "h", port: 1, scheme: nil, alpn: [],
                protocolVersion: .v5, openedNanoseconds: 0),
            alias: nil, link: start.map { ExchangeLink(row: number, start: $0, elapsed: 5, isLast: true) })
    }

    /// A logger with packets that have these numbers. Each packet is linked to the one before it.
    private static func logger(_ numbers: UInt64...) throws -> MQTTChuckLogger {
        let logger = MQTTChuckLogger()
        var restoring = PacketRestoring(logger)
        var previous: UInt64?
        for number in numbers {
            try restoring.restore(record(number, start: previous))
            previous = number
        }
        return logger
    }

    @discardableResult
    private func write(
        _ logger: MQTTChuckLogger, retention: MQTTChuckArchive.Retention = MQTTChuckArchive.Retention(age: nil)
    ) async throws -> MQTTChuckArchive.Status {
        let archive = try MQTTChuckArchive(of: logger, at: url, retention: retention)
        await archive.close()
        return archive.status
    }

    private func change(_ sql: String) throws {
        let database = try Database(path: url.path, .owner, system: nil)
        try database.execute(sql, "test")
        database.close()
    }

    // MARK: Numbers

    @Test func `the largest row number can be archived, and further rows fail with storeFull`() async throws {
        let status = try await write(try Self.logger(1, Self.largest - 1, Self.largest))
        #expect(status.writtenRows == 3 && status.missedRows == 0 && status.failure == nil)
        #expect(try MQTTChuckArchive.logger(of: url).rows().rows.map(\.number) == [1, Self.largest - 1, Self.largest])

        // The next run has no free row numbers. It reports a failure and keeps the existing rows.
        let logger = MQTTChuckLogger()
        try Traffic(logger).exchange(1)
        let next = try await write(logger)
        #expect(next.quarantinedFile == nil && next.writtenRows == 0)
        #expect(next.failure?.code == .storeFull)
        #expect(next.failure?.message.contains("Choose another file") == true)
        #expect(try MQTTChuckArchive.logger(of: url).summary.rowCount == 3)
    }

    @Test(arguments: [Int64(1) << 53, Int64.max / 2 + 1, .max])
    func `an archive with very large row numbers is not quarantined as damaged`(number: Int64) async throws {
        let logger = MQTTChuckLogger()
        try Traffic(logger).exchange(1)
        try await write(logger)
        try change("UPDATE packet SET number = \(number) WHERE number = 4; UPDATE connection SET last = \(number)")
        let status = try await write(logger)
        #expect(status.quarantinedFile == nil && status.writtenRows == 0 && status.failure?.code == .storeFull)
        #expect(!FileManager.default.fileExists(atPath: url.path + ".damaged-1"))
    }

    @Test func `an archive with an invalid row number throws storeDamaged, and an invalid exchange link is ignored`()
        async throws
    {
        try await write(try Self.logger(1, 2, 3))
        try change("UPDATE packet SET start = -5 WHERE number = 2")
        try change("UPDATE packet SET start = \(Int64.max) WHERE number = 3")
        let rows = try MQTTChuckArchive.logger(of: url).rows().rows
        #expect(rows.count == 3 && rows.allSatisfy { $0.roundTrip == nil })
        for number in [Int64.max - 1, Int64(Self.largest) + 1, -1] {
            try change("UPDATE packet SET number = \(number) WHERE number = (SELECT max(number) FROM packet)")
            let error = #expect(throws: CourierError.self) { try MQTTChuckArchive.logger(of: url) }
            #expect(error?.code == .storeDamaged)
            #expect(throws: CourierError.self) { try MQTTChuckLogger().importArchive(at: url) }
        }
    }

    @Test func `an archive can be imported into a logger while a client records into the logger`() async throws {
        let source = MQTTChuckLogger()
        let traffic = Traffic(source, client: "recorded")
        for number in 0..<2_000 { try traffic.exchange(number) }
        try await write(source)
        let logger = MQTTChuckLogger()
        async let imported = logger.importArchive(at: url)
        let live = Traffic(logger, id: 2, client: "live")
        for number in 0..<2_000 { try live.exchange(number) }
        #expect(try await imported == 8_000)
        let rows = logger.rows(limit: .max).rows
        #expect(rows.map(\.number) == Array(1...16_000))
        let own = rows.filter { $0.connection.clientID == "recorded" }
        #expect(own.map(\.type) == source.rows(limit: .max).rows.map(\.type))
        let begins = Set(own.filter { $0.type == .publish }.map(\.number))
        #expect(own.allSatisfy { $0.exchange.map(begins.contains) ?? true })
    }

    // MARK: What is missed

    @Test func `missedRows does not count gaps in imported row numbers or rows dropped before the archive was opened`()
        async throws
    {
        #expect(try await write(try Self.logger(1, 1_000, 1_000_000_000)).missedRows == 0)
        var options = MQTTChuckOptions()
        options.logsMaxSize = 10
        let logger = MQTTChuckLogger(options: options)
        let traffic = Traffic(logger)
        for number in 0..<10 { try traffic.exchange(number) }  // 40 rows, 30 of which are gone.
        let status = try await write(logger)
        #expect(status.writtenRows == 10 && status.missedRows == 0)
        #expect(try MQTTChuckArchive.logger(of: url).rows().rows.last?.number == 1_000_000_040)
    }

    // MARK: Sizes and times

    @Test(arguments: [(0, 0, 0), (.max, .max, .max), (-1, -1, -1)])
    func `an archive returns all rows, even if the limits of the logger are smaller`(rows: Int, bytes: Int, packet: Int)
        async throws
    {
        let source = MQTTChuckLogger()
        let traffic = Traffic(source)
        for number in 0..<10 { try traffic.exchange(number) }
        try traffic.huge()
        try await write(source)
        var options = MQTTChuckOptions()
        (options.logsMaxSize, options.logsMaxBytes, options.packetMaxSize) = (rows, bytes, packet)
        let logger = try MQTTChuckArchive.logger(of: url, options: options)
        #expect(logger.rows(limit: .max).rows == source.rows(limit: .max).rows)
    }

    @Test func `showing or exporting a row with an impossible packet size does not crash`() async throws {
        try await write(try Self.logger(1, 2, 3))
        try change("UPDATE packet SET size = \(Int64.max), bytes = x'30' WHERE number = 2")
        let logger = try MQTTChuckArchive.logger(of: url)
        #expect(logger.rows().rows.map(\.size) == [2, .max, 2])
        for number in UInt64(1)...3 { #expect(logger.details(of: number) != nil) }
        for format in MQTTChuckExportFormat.allCases { _ = logger.exported(format) }
    }

    @Test(arguments: [
        (Duration.seconds(-1), 0), (.seconds(Int64.min), 0), (.zero, 0), (.seconds(Int64.max), 3), (nil, 3),
    ])
    func `an age limit of 0 or less removes all rows, and a huge age limit removes no rows`(age: Duration?, rows: Int)
        async throws
    {
        let status = try await write(try Self.logger(1, 2, 3), retention: MQTTChuckArchive.Retention(age: age))
        #expect(status.writtenRows == 3 && status.failure == nil)
        #expect(try MQTTChuckArchive.logger(of: url).summary.rowCount == rows)
    }

    @Test func `an archive with the lowest retention limits stores no rows and reports no failure`() async throws {
        var retention = MQTTChuckArchive.Retention(age: nil)
        (retention.rows, retention.bytes) = (.min, .min)
        #expect(try await write(try Self.logger(1, 2, 3), retention: retention).failure == nil)
        #expect(try MQTTChuckArchive.logger(of: url).summary.rowCount == 0)
    }
}
