import CourierCore
import CourierMQTTChuck
import Foundation
import TestSupport
import Testing

@testable import CourierMQTTChuckSQLite

@Suite(.timeLimit(.minutes(5))) struct ArchiveFollowerTests {
    private let folder: TemporaryFolder

    init() throws { folder = try TemporaryFolder() }

    private var url: URL { URL(fileURLWithPath: folder.file("session.chuck")) }

    @Test func `ArchiveFollower reads each new row once and assigns the row to its exchange`()
        async throws
    {
        let logger = MQTTChuckLogger()
        let archive = try MQTTChuckArchive(of: logger, at: url)
        let traffic = Traffic(logger)
        try traffic.connect()
        try await archive.flush()
        let follower = try ArchiveFollower(url)
        #expect(follower.logger.rows().rows == logger.rows().rows)
        #expect(try follower.catchUp() == 0)
        for round in 0..<20 {
            for number in 0..<round { try traffic.exchange(number) }
            try await archive.flush()
            #expect(try follower.catchUp() == round * 4)
            #expect(try follower.catchUp() == 0)
        }
        await archive.close()
        _ = try follower.catchUp()
        let (old, new) = (logger.rows(limit: 10_000).rows, follower.logger.rows(limit: 10_000).rows)
        #expect(
            new.count == 762 && new.map(\.number) == old.map(\.number) && new.map(\.roundTrip) == old.map(\.roundTrip))
        #expect(new.map(\.topic) == old.map(\.topic))
    }

    @Test func `ArchiveFollower reads rows that a later recording adds to the same file`() async throws {
        func run() async throws {
            let logger = MQTTChuckLogger()
            let archive = try MQTTChuckArchive(of: logger, at: url)
            let traffic = Traffic(logger)
            try traffic.connect()
            try traffic.exchange(1)
            await archive.close()
        }
        try await run()
        let follower = try ArchiveFollower(url)
        #expect(follower.logger.summary.rowCount == 6)
        try await run()
        #expect(try follower.catchUp() == 6)
        #expect(Set(follower.logger.rows().rows.map(\.connection.id)).count == 2)
    }

    @Test func `rows that were removed from the archive file remain in ArchiveFollower`() async throws {
        let logger = MQTTChuckLogger()
        let archive = try MQTTChuckArchive(of: logger, at: url, retention: .init(rows: 10))
        let traffic = Traffic(logger)
        try traffic.connect()
        try await archive.flush()
        let follower = try ArchiveFollower(url)
        for number in 0..<10 {
            try traffic.exchange(number)
            try await archive.flush()
            #expect(try follower.catchUp() == 4)
        }
        await archive.close()
        #expect(follower.logger.summary.rowCount == 42)
        #expect(try MQTTChuckArchive.logger(of: url).summary.rowCount == 10)
    }

    @Test func `ArchiveFollower throws if the file is missing or is not an archive`() throws {
        try "hello".write(to: url, atomically: true, encoding: .utf8)
        #expect(throws: CourierError.self) { try ArchiveFollower(url) }
        #expect(throws: CourierError.self) { try ArchiveFollower(URL(fileURLWithPath: folder.file("missing"))) }
    }
}
