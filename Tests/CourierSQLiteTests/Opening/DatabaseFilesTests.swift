import CourierCore
import Foundation
import Testing

@testable import CourierSQLite

@Suite struct DatabaseFilesTests {
    private let folder: TemporaryFolder

    init() throws { folder = try TemporaryFolder() }

    private func permissions(_ path: String) throws -> Int {
        try #require(FileManager.default.attributesOfItem(atPath: path)[.posixPermissions] as? Int)
    }

    @Test func `new and existing database files get permissions 0600, and existing contents are not changed`() throws {
        let file = folder.url.appendingPathComponent("a/b/data")
        let files = try DatabaseFiles(.archive, at: file)
        try files.prepare()
        #expect(try permissions(file.deletingLastPathComponent().path) == 0o700)
        for path in [files.path, files.lock] { #expect(try permissions(path) == 0o600) }
        for path in [files.path, files.log, files.index, files.lock] {
            try Data(path.utf8).write(to: URL(fileURLWithPath: path))
            try FileManager.default.setAttributes([.posixPermissions: 0o644], ofItemAtPath: path)
        }
        try files.prepare()
        for path in [files.path, files.log, files.index, files.lock] {
            #expect(try permissions(path) == 0o600)
            #expect(try Data(contentsOf: URL(fileURLWithPath: path)) == Data(path.utf8))
        }
    }

    @Test func `the temporary files of a recovery can be read only by their owner`() throws {
        let files = try DatabaseFiles(.messageStore, at: folder.file)
        let opening = StoreOpening(files: files, durability: .normal, limits: .default, system: FaultyDisk.quick.name)
        try Data(repeating: 7, count: 10_000).write(to: folder.file)
        #expect(try Salvage(opening: opening).run() == 0)
        for path in [files.recovering, files.recovering + ".template"] { #expect(try permissions(path) == 0o600) }
    }

    @Test func `a quarantined database and its log file are renamed to unused names`() throws {
        let files = try DatabaseFiles(.archive, at: folder.file)
        for number in 1...3 {
            try Data("data \(number)".utf8).write(to: folder.file)
            // The log of the second database was already moved into the database, so it has no log file.
            if number != 2 { try Data("log \(number)".utf8).write(to: URL(fileURLWithPath: files.log)) }
            try Data("index".utf8).write(to: URL(fileURLWithPath: files.index))
            #expect(try files.quarantine() == files.path + ".damaged-\(number)")
        }
        let name = folder.file.lastPathComponent
        let aside = (1...3).map { "\(name).damaged-\($0)" }
        #expect(folder.names == [aside[0], aside[0] + "-wal", aside[1], aside[2], aside[2] + "-wal"])
        for number in 1...3 {
            #expect(try folder.bytes("\(name).damaged-\(number)") == Data("data \(number)".utf8))
            if number != 2 { #expect(try folder.bytes("\(name).damaged-\(number)-wal") == Data("log \(number)".utf8)) }
        }
    }

    @Test(arguments: [(DatabaseFiles.Purpose.messageStore, "message store"), (.archive, "archive")])
    func `the error for an invalid file URL begins with the purpose of the file`(
        purpose: DatabaseFiles.Purpose, name: String
    ) throws {
        for url in [folder.url, try #require(URL(string: "https://example.com/x"))] {
            let error = #expect(throws: CourierError.self) { try DatabaseFiles(purpose, at: url) }
            #expect(error?.message.hasPrefix("The \(name) ") == true)
        }
    }
}
