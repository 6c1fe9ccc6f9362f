import CourierCore
import CourierMQTTChuck
import Foundation
import MQTTCodec
import TestSupport
import Testing

@testable import CourierMQTTChuckSQLite

/// Archives that an earlier version of this library wrote can be read and continued without loss.
@Suite(.timeLimit(.minutes(5))) struct OldArchiveTests {
    /// 2026-01-31 12:00:00 UTC, when the recorded connection was opened.
    private static let opened = Date(timeIntervalSince1970: 1_769_860_800)

    private let folder: TemporaryFolder
    private var url: URL { URL(fileURLWithPath: folder.file("session.archive")) }

    /// Copies the archive of commit 3d93aff to a temporary folder.
    init() throws {
        folder = try TemporaryFolder()
        let fixtures = try #require(Bundle.module.url(forResource: "Fixtures", withExtension: nil))
        let file = fixtures.appendingPathComponent("3d93aff/session.archive")
        try Data(contentsOf: file).write(to: url)
    }

    /// Records the packets that the archive of commit 3d93aff contains.
    private func expectedLogger() throws -> MQTTChuckLogger {
        var options = MQTTChuckOptions()
        options.logsMaxAge = nil
        let logger = MQTTChuckLogger(options: options)
        let traffic = Traffic(logger, openedAt: Self.opened)
        try traffic.connect()
        for number in 0..<20 { try traffic.exchange(number) }
        try traffic.observe(.outgoing, .pingReq)
        return logger
    }

    @Test func `an archive of an old version (commit 3d93aff) gives the same rows and exports as a new recording`()
        throws
    {
        let expected = try expectedLogger()
        let recorded = try MQTTChuckArchive.logger(of: url)
        let rows = recorded.rows().rows
        #expect(rows.count == 83)
        #expect(rows == expected.rows().rows)
        #expect(rows.first { $0.topic == "orders/19" }?.roundTrip == .milliseconds(10))
        for row in rows { #expect(recorded.details(of: row.number) == expected.details(of: row.number)) }
        for format in [MQTTChuckExportFormat.text, .jsonLines, .pcapng] {
            #expect(recorded.exported(format) == expected.exported(format))
        }
        #expect(recorded.recordedSessions().map(\.steps) == expected.recordedSessions().map(\.steps))
    }

    @Test func `rows of a new recording follow the rows of an archive that an old version (commit 3d93aff) wrote`()
        async throws
    {
        let logger = MQTTChuckLogger()
        let archive = try MQTTChuckArchive(of: logger, at: url, retention: MQTTChuckArchive.Retention(age: nil))
        #expect(archive.status.quarantinedFile == nil)
        try Traffic(logger, client: "tablet").exchange(1)
        await archive.close()
        let rows = try MQTTChuckArchive.logger(of: url).rows().rows
        #expect(rows.map(\.number) == Array(1...87))
        let expected = try expectedLogger().rows().rows
        #expect(rows.prefix(83).map(\.topic) == expected.map(\.topic))
        #expect(rows.suffix(4).allSatisfy { $0.connection.clientID == "tablet" })
    }
}
