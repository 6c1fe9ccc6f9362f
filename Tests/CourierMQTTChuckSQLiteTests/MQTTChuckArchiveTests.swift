import CourierCore
import CourierMQTTChuck
import CourierSQLite
import Foundation
import MQTTCodec
import TestSupport
import Testing

@testable import CourierMQTTChuckSQLite

@Suite(.timeLimit(.minutes(5))) struct MQTTChuckArchiveTests {
    private let folder: TemporaryFolder

    init() throws { folder = try TemporaryFolder() }

    private var url: URL { URL(fileURLWithPath: folder.file("session.chuck")) }

    private func permissions(_ path: String) throws -> Int {
        try #require(FileManager.default.attributesOfItem(atPath: path)[.posixPermissions] as? Int)
    }

    /// Records these exchanges as one run and closes the archive.
    @discardableResult
    private func record(
        _ exchanges: Range<Int>, client: String = "phone-7", retention: MQTTChuckArchive.Retention = .default
    ) async throws -> MQTTChuckLogger {
        let logger = MQTTChuckLogger()
        let archive = try MQTTChuckArchive(of: logger, at: url, retention: retention)
        let traffic = Traffic(logger, client: client)
        try traffic.connect()
        for number in exchanges { try traffic.exchange(number) }
        await archive.close()
        return logger
    }

    // MARK: Looking afterwards

    @Test func `retention limits below 1 are raised to 1, in the initializer and when they are set later`() {
        var retention = MQTTChuckArchive.Retention(rows: 0, bytes: -1)
        #expect(retention.rows == 1 && retention.bytes == 1)
        (retention.rows, retention.bytes) = (-5, 0)
        #expect(retention.rows == 1 && retention.bytes == 1)
    }

    @Test func `an archive gives the same rows, details, search results and exports as its logger`() async throws {
        let logger = MQTTChuckLogger()
        let archive = try MQTTChuckArchive(of: logger, at: url)
        let traffic = Traffic(logger)
        try traffic.connect()
        for number in 0..<300 { try traffic.exchange(number) }
        try traffic.huge()
        try traffic.observe(.outgoing, .pingReq)
        await archive.close()
        #expect(archive.status.writtenRows == logger.summary.nextRow - 1)
        #expect(archive.status.missedRows == 0)
        #expect(archive.status.failure == nil && archive.status.quarantinedFile == nil)

        let recorded = try MQTTChuckArchive.logger(of: url)
        let (old, new) = (logger.rows(limit: 10_000).rows, recorded.rows(limit: 10_000).rows)
        #expect(old.count == 1_204)
        #expect(new.map(\.number) == old.map(\.number))
        #expect(new.map(\.topic) == old.map(\.topic))
        #expect(new.map(\.roundTrip) == old.map(\.roundTrip))
        #expect(new.map(\.timeNanoseconds) == old.map(\.timeNanoseconds))
        #expect(new == old)
        #expect(recorded.details(of: 3)?.exchange.map(\.type) == [.publish, .pubAck])
        for text in ["topic:orders/299", "errors", "took:>5ms", "topic:news more"] {
            let query = try MQTTChuckQuery(text)
            let found = recorded.rows(matching: query, limit: 10_000).rows
            #expect(found == logger.rows(matching: query, limit: 10_000).rows, "\(text)")
        }
        for format in [MQTTChuckExportFormat.text, .jsonLines, .pcapng] {
            #expect(recorded.exported(format) == logger.exported(format))
        }
        #expect(recorded.recordedSessions().map(\.steps) == logger.recordedSessions().map(\.steps))
    }

    @Test func `if a second recording uses the same archive, its rows are added and its connections stay separate`()
        async throws
    {
        try await record(0..<5)
        try await record(5..<10, client: "tablet")
        let recorded = try MQTTChuckArchive.logger(of: url)
        let rows = recorded.rows().rows
        #expect(rows.map(\.number) == Array(1...44))
        #expect(
            rows.map(\.connection.clientID) == Array(repeating: "phone-7", count: 22)
                + Array(repeating: "tablet", count: 22))
        #expect(recorded.recordedSessions().count == 2)
        // The exchanges of the second run have their own links.
        let publish = try #require(rows.last { $0.topic == "orders/9" })
        #expect(publish.roundTrip == .milliseconds(10))
        #expect(recorded.details(of: publish.number)?.exchange.map(\.number) == [publish.number, publish.number + 1])
    }

    @Test func `importArchive() adds rows after the existing rows, within the logger's limits`() async throws {
        try await record(0..<50)
        var options = MQTTChuckOptions()
        options.logsMaxSize = 100
        let logger = MQTTChuckLogger(options: options)
        try Traffic(logger, client: "here").connect()
        #expect(try logger.importArchive(at: url) == 202)
        #expect(logger.summary.rowCount == 100)
        let rows = logger.rows().rows
        #expect(rows.last?.number == 204 && rows.first?.number == 105)
        #expect(rows.first { $0.topic == "orders/49" }?.roundTrip == .milliseconds(10))
    }

    @Test func `an archive can be read while a logger still writes rows to the archive`() async throws {
        let logger = MQTTChuckLogger()
        let archive = try MQTTChuckArchive(of: logger, at: url)
        let traffic = Traffic(logger)
        try traffic.connect()
        try await archive.flush()
        #expect(try MQTTChuckArchive.logger(of: url).summary.rowCount == 2)
        try traffic.exchange(1)
        try await archive.flush()
        #expect(try MQTTChuckArchive.logger(of: url).rows().rows == logger.rows().rows)
        await archive.close()
    }

    @Test func `an archive writes new rows after its write interval without flush()`() async throws {
        let logger = MQTTChuckLogger()
        let archive = try MQTTChuckArchive(of: logger, at: url, interval: .milliseconds(1))
        let traffic = Traffic(logger)
        for number in 1...3 {
            try traffic.exchange(number)
            while archive.status.writtenRows < UInt64(number) * 4 { await Task.yield() }
        }
        #expect(try MQTTChuckArchive.logger(of: url).summary.rowCount == 12)
        await archive.close()
    }

    // MARK: Secrets

    @Test func `no file of an archive contains the password or a token`() async throws {
        let logger = MQTTChuckLogger()
        let archive = try MQTTChuckArchive(of: logger, at: url)
        try Traffic(logger).connect()
        try await archive.flush()
        var contents = ""
        func readAll() throws -> Int {
            let names = try FileManager.default.contentsOfDirectory(atPath: folder.path)
            for name in names {
                contents += String(
                    decoding: try Data(contentsOf: URL(fileURLWithPath: folder.file(name))), as: UTF8.self)
            }
            return names.count
        }
        #expect(try readAll() >= 3)  // The database, its log and the lock.
        await archive.close()
        _ = try readAll()
        #expect(contents.contains("broker.example.com") && contents.contains("ada"))
        #expect(!contents.contains(Traffic.password) && !contents.contains(Traffic.token))
    }

    @Test func `only the owner can read the archive files and their new folder`() async throws {
        let inside = URL(fileURLWithPath: folder.file("a/b/session.chuck"))
        let logger = MQTTChuckLogger()
        let archive = try MQTTChuckArchive(of: logger, at: inside)
        try Traffic(logger).connect()
        try await archive.flush()
        let folder = inside.deletingLastPathComponent().path
        #expect(try permissions(folder) == 0o700)
        let names = try FileManager.default.contentsOfDirectory(atPath: folder)
        #expect(names.count >= 3)
        for name in names { #expect(try permissions("\(folder)/\(name)") == 0o600, "\(name)") }
        await archive.close()
    }

    @Test(arguments: [false, true])
    func `topic rules apply to archived messages with a topic alias`(hidesTopic: Bool) async throws {
        try await record(0..<3)
        var options = MQTTChuckOptions()
        options.redaction.topics = [.init(try TopicFilter("news"), hidesTopic: hidesTopic)]
        let recorded = try MQTTChuckArchive.logger(of: url, options: options)
        let messages = recorded.rows().rows.filter { $0.topicAlias == 3 }
        #expect(messages.count == 6)
        #expect(messages.allSatisfy { $0.topic == (hidesTopic ? "****" : "news") })
        #expect(messages.allSatisfy { $0.preview.text.allSatisfy { $0 == "*" } })
    }

    // MARK: Limits

    @Test func `if an archive exceeds the row limit, the oldest rows are removed, together with their connections`()
        async throws
    {
        let retention = MQTTChuckArchive.Retention(rows: 40)
        try await record(0..<100, client: "old", retention: retention)
        try await record(100..<109, client: "new", retention: retention)
        let recorded = try MQTTChuckArchive.logger(of: url)
        let rows = recorded.rows().rows
        #expect(rows.count == 40)
        #expect(try #require(rows.last).number == 402 + 38)
        #expect(Set(rows.map(\.connection.clientID)) == ["old", "new"])
        try await record(109..<200, client: "newest", retention: retention)
        #expect(Set(try MQTTChuckArchive.logger(of: url).rows().rows.map(\.connection.clientID)) == ["newest"])
        let database = try Database(path: url.path, .reader, system: nil)
        #expect(try database.number("SELECT count(*) FROM connection", "test") == 1)
    }

    @Test func `if an archive exceeds the byte limit, the oldest rows are removed`() async throws {
        try await record(0..<500, retention: MQTTChuckArchive.Retention(bytes: 5_000))
        let database = try Database(path: url.path, .reader, system: nil)
        let bytes = try database.number("SELECT sum(length(bytes)) FROM packet", "test")
        #expect(bytes <= 5_000 && bytes > 4_900)
        #expect(try MQTTChuckArchive.logger(of: url).rows(limit: 10_000).rows.last?.number == 2_002)
    }

    @Test func `rows older than the age limit are removed when newer rows are written`() async throws {
        let logger = MQTTChuckLogger()
        let archive = try MQTTChuckArchive(
            of: logger, at: url, retention: MQTTChuckArchive.Retention(age: .seconds(3_600)))
        try Traffic(logger, id: 1, client: "old", openedAt: Date(timeIntervalSinceNow: -7_200)).exchange(1)
        try Traffic(logger, id: 2, client: "new").exchange(2)
        await archive.close()
        let rows = try MQTTChuckArchive.logger(of: url).rows().rows
        #expect(rows.map(\.connection.clientID) == Array(repeating: "new", count: 4))
    }

    @Test func `clearing the logger removes no rows from the archive`() async throws {
        let logger = MQTTChuckLogger()
        let archive = try MQTTChuckArchive(of: logger, at: url)
        let traffic = Traffic(logger)
        try traffic.exchange(1)
        try await archive.flush()
        logger.clear()
        try traffic.exchange(2)
        await archive.close()
        #expect(try MQTTChuckArchive.logger(of: url).rows().rows.map(\.number) == Array(1...8))
    }

    // MARK: What is in the way

    @Test func `opening a second archive on the same file throws storeInUse`() async throws {
        let archive = try MQTTChuckArchive(of: MQTTChuckLogger(), at: url)
        let error = #expect(throws: CourierError.self) { try MQTTChuckArchive(of: MQTTChuckLogger(), at: url) }
        #expect(error?.code == .storeInUse)
        await archive.close()
        try await record(0..<1)
    }

    @Test(arguments: ["text", "zeros", "foreign", "cut"])
    func `a damaged or foreign file is quarantined, and a new archive is created`(kind: String) async throws {
        switch kind {
        case "text": try Data(String(repeating: "no database\n", count: 1_000).utf8).write(to: url)
        case "zeros": try Data(count: 100_000).write(to: url)
        case "foreign":
            try Data().write(to: url)  // SQLite opens existing files only.
            let database = try Database(path: url.path, .owner, system: nil)
            try database.execute("CREATE TABLE mine (a); INSERT INTO mine VALUES (1)", "test")
            database.close()
        default:
            try await record(0..<200)
            try Data(contentsOf: url).prefix(20_000).write(to: url)
        }
        let before = try Data(contentsOf: url)
        let error = #expect(throws: CourierError.self) { try MQTTChuckArchive.logger(of: url) }
        #expect(error?.code == .storeDamaged)
        #expect(try Data(contentsOf: url) == before)

        let logger = MQTTChuckLogger()
        let archive = try MQTTChuckArchive(of: logger, at: url)
        let quarantinedFile = try #require(archive.status.quarantinedFile)
        #expect(quarantinedFile.error.code == .storeDamaged)
        // SQLite may have opened the log of a file that it can read, which changes two numbers of its header.
        #expect(try Data(contentsOf: quarantinedFile.url).dropFirst(100) == before.dropFirst(100))
        try Traffic(logger).exchange(1)
        await archive.close()
        #expect(try MQTTChuckArchive.logger(of: url).summary.rowCount == 4)
    }

    @Test func `opening an empty file as an archive succeeds`() async throws {
        try Data().write(to: url)
        try await record(0..<1)
        #expect(try MQTTChuckArchive.logger(of: url).summary.rowCount == 6)
    }

    @Test func `opening an archive of a newer version throws storeFailed, and the file is not quarantined`()
        async throws
    {
        try await record(0..<1)
        let database = try Database(path: url.path, .owner, system: nil)
        try database.execute("PRAGMA user_version = 99", "test")
        database.close()
        let error = #expect(throws: CourierError.self) { try MQTTChuckArchive(of: MQTTChuckLogger(), at: url) }
        #expect(error?.code == .storeFailed)
        #expect(throws: CourierError.self) { try MQTTChuckArchive.logger(of: url) }
        #expect(!FileManager.default.fileExists(atPath: url.path + ".damaged-1"))
    }

    @Test func `opening a missing file or a folder as an archive throws an error`() throws {
        let error = #expect(throws: CourierError.self) { try MQTTChuckArchive.logger(of: url) }
        #expect(error?.code == .storeFailed)
        #expect(!FileManager.default.fileExists(atPath: url.path))
        #expect(throws: CourierError.self) {
            try MQTTChuckArchive(of: MQTTChuckLogger(), at: URL(fileURLWithPath: folder.path))
        }
    }

    @Test func `an archive with random damage is read or throws CourierError, without a crash`() async throws {
        try await record(0..<200)
        let good = try Data(contentsOf: url)
        var generator = SeededGenerator(seed: 7)
        let damaged = URL(fileURLWithPath: folder.file("damaged"))
        for _ in 0..<200 {
            var bytes = good
            for _ in 0..<Int.random(in: 1...40, using: &generator) {
                bytes[Int.random(in: 0..<bytes.count, using: &generator)] = UInt8.random(in: 0...255, using: &generator)
            }
            try bytes.write(to: damaged)
            do {
                let logger = try MQTTChuckArchive.logger(of: damaged)
                for row in logger.rows(limit: 10_000).rows { _ = logger.details(of: row.number) }
                _ = logger.exported(.pcapng)
            } catch is CourierError {}
        }
    }

    @Test func `an archive closes its file when the archive is deallocated`() async throws {
        let logger = MQTTChuckLogger()
        do {
            let archive = try MQTTChuckArchive(of: logger, at: url)
            try Traffic(logger).exchange(1)
            _ = archive.status
        }
        // The lock of the file is released when the file is closed.
        while true {
            do {
                let next = try MQTTChuckArchive(of: MQTTChuckLogger(), at: url)
                await next.close()
                break
            } catch let error as CourierError where error.code == .storeInUse { await Task.yield() }
        }
        #expect(try MQTTChuckArchive.logger(of: url).summary.rowCount == 4)
    }

    @Test func `a closed archive writes no rows, and flush() throws an error`() async throws {
        let logger = MQTTChuckLogger()
        let archive = try MQTTChuckArchive(of: logger, at: url)
        await archive.close()
        await archive.close()
        try Traffic(logger).exchange(1)
        await #expect(throws: CourierError.self) { try await archive.flush() }
        #expect(try MQTTChuckArchive.logger(of: url).summary.rowCount == 0)
    }
}
