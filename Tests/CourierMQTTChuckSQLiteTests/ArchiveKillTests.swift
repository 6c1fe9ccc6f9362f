import CourierMQTTChuck
import CourierMQTTChuckSQLite
import Foundation
import Glibc
import MQTTCodec
import TestSupport
import Testing

/// A process that records is killed at a random instant, again and again.
@Suite(.timeLimit(.minutes(5))) struct ArchiveKillTests {
    /// Records rows until the process is killed. After each flush, it reports the number of rows in the file.
    static func recordUntilKilled(_ file: String, _ report: String) async throws {
        let logger = MQTTChuckLogger()
        let archive = try MQTTChuckArchive(of: logger, at: URL(fileURLWithPath: file), interval: .milliseconds(1))
        guard let handle = FileHandle(forWritingAtPath: report) else { return }
        let traffic = Traffic(logger)
        try traffic.connect()
        try await archive.flush()
        try handle.write(contentsOf: Data("2\n".utf8))
        let delay = DispatchTimeInterval.microseconds(.random(in: 0...60_000))
        DispatchQueue.global().asyncAfter(deadline: .now() + delay) { kill(getpid(), SIGKILL) }
        var number = 0
        while true {
            for _ in 0..<10 {
                try traffic.exchange(number)
                number += 1
            }
            let rows = logger.summary.nextRow - 1
            try await archive.flush()
            try handle.write(contentsOf: Data("\(rows)\n".utf8))
        }
    }

    @Test func `after the process is killed, the archive has all rows written before, in order and without a gap`()
        async throws
    {
        let folder = try TemporaryFolder()
        let report = folder.file("report")
        for kill in 1...8 {
            let path = folder.file("\(kill).chuck")
            try Data().write(to: URL(fileURLWithPath: report))
            await #expect(processExitsWith: .signal(SIGKILL)) {
                [path = path as String, report = report as String] in
                try await ArchiveKillTests.recordUntilKilled(path, report)
            }
            let text = String(decoding: try Data(contentsOf: URL(fileURLWithPath: report)), as: UTF8.self)
            // The last line may be cut short.
            let lines = text.split(separator: "\n").dropLast(text.hasSuffix("\n") ? 0 : 1)
            let written = try #require(lines.last.flatMap { UInt64($0) }, "it was killed before it began")

            let recorded = try MQTTChuckArchive.logger(of: URL(fileURLWithPath: path))
            let rows = recorded.rows(limit: .max).rows
            #expect(rows.map(\.number) == Array(1..<UInt64(rows.count + 1)), "kill \(kill)")
            #expect(UInt64(rows.count) >= written, "kill \(kill)")
            #expect(rows.first?.type == .connect && rows.allSatisfy { $0.problem == nil })
            // The next run continues in the same file.
            let logger = MQTTChuckLogger()
            let archive = try MQTTChuckArchive(of: logger, at: URL(fileURLWithPath: path))
            #expect(archive.status.quarantinedFile == nil)
            try Traffic(logger).connect()
            await archive.close()
            #expect(try MQTTChuckArchive.logger(of: URL(fileURLWithPath: path)).summary.rowCount == rows.count + 2)
        }
    }
}
