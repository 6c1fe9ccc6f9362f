import CourierCore
import CourierMQTTChuck
import CourierMQTTChuckSQLite
import Foundation
import Glibc
import TestSupport
import Testing

/// The protection of an archive's files against other users of the machine.
@Suite(.timeLimit(.minutes(5))) struct ArchiveFilesTests {
    private let folder: TemporaryFolder

    init() throws { folder = try TemporaryFolder() }

    /// Writes an archive, damages its file, and writes a new archive at the same path.
    static func useArchive(at path: String, tracingInto trace: String) async throws {
        umask(0)
        let strace = try await SystemCallTrace(into: trace)
        for isDamaged in [false, true] {
            if isDamaged {
                let handle = try FileHandle(forUpdating: URL(fileURLWithPath: path))
                try handle.write(contentsOf: Data(repeating: 7, count: 4_096))
                try handle.close()
            }
            let logger = MQTTChuckLogger()
            let archive = try MQTTChuckArchive(of: logger, at: URL(fileURLWithPath: path))
            guard isDamaged == (archive.status.quarantinedFile != nil) else {
                throw CourierError(.storeFailed, "nothing was damaged")
            }
            try Traffic(logger).connect()
            await archive.close()
        }
        strace.end()
    }

    @Test(.enabled(if: SystemCallTrace.isPossible, "strace may not attach to a process of this user"))
    func `even if the umask is 0, only the owner of an archive file can read or write the file`() async throws {
        let (path, trace) = (folder.file("new/session.chuck"), folder.file("trace"))
        await #expect(processExitsWith: .success) { [path = path as String, trace = trace as String] in
            try await ArchiveFilesTests.useArchive(at: path, tracingInto: trace)
        }
        let text = try String(contentsOfFile: trace, encoding: .utf8)
        let creations = SystemCallTrace.creations(in: text, below: folder.file("new"))
        #expect(Set(creations.map(\.path)).isSuperset(of: ["", "-wal", "-shm", ".lock"].map { path + $0 }))
        for creation in creations {
            let allowed = creation.path == folder.file("new") ? 0o700 : 0o600
            #expect(creation.permissions & ~allowed == 0, "\(creation.path) \(String(creation.permissions, radix: 8))")
        }
        #expect(!text.contains("umask("))
    }

    private static let suffixes = ["", ".lock", "-wal", "-shm", "-journal"]

    @Test(arguments: suffixes)
    func `opening an archive throws if one of its files is a symbolic link`(suffix: String) throws {
        let (path, target) = (folder.file("session.chuck"), folder.file("target"))
        try Data("theirs".utf8).write(to: URL(fileURLWithPath: target))
        try FileManager.default.createSymbolicLink(atPath: path + suffix, withDestinationPath: target)
        expectCourierError(.storeFailed, path + suffix, "symbolic link") {
            try MQTTChuckArchive(of: MQTTChuckLogger(), at: URL(fileURLWithPath: path))
        }
        #expect(try String(contentsOfFile: target, encoding: .utf8) == "theirs")
    }

    @Test(.enabled(if: geteuid() == 0, "only root can give a file away"), arguments: suffixes)
    func `opening an archive throws if one of its files belongs to another user`(suffix: String) throws {
        let path = folder.file("session.chuck")
        try Data().write(to: URL(fileURLWithPath: path + suffix))
        #expect(chown(path + suffix, 65_534, 65_534) == 0)
        expectCourierError(.storeFailed, path + suffix, "belongs to user 65534") {
            try MQTTChuckArchive(of: MQTTChuckLogger(), at: URL(fileURLWithPath: path))
        }
    }
}
