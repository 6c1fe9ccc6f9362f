import CourierCore
import Foundation
import Glibc
import TestSupport
import Testing

@testable import CourierSQLite

/// The protection of a store's files against other users of the machine.
@Suite(.timeLimit(.minutes(5))) struct FileCreationTests {
    private let folder: TestSupport.TemporaryFolder

    init() throws { folder = try TestSupport.TemporaryFolder() }

    /// Uses a store in each way that creates files.
    static func useStore(at path: String, tracingInto trace: String) async throws {
        umask(0)
        let strace = try await SystemCallTrace(into: trace)
        let file = URL(fileURLWithPath: path)
        let store = try SQLiteMessageStore(at: file, durability: .full)
        try await store.commit(.enqueue(message(1)))
        await store.close()
        // The first page is damaged, so the recovery creates its temporary files.
        try damage(path)
        let saved = try SQLiteMessageStore(at: file)
        guard saved.recovery != nil else { throw CourierError(.storeFailed, "nothing was damaged") }
        await saved.close()
        // The lock file is invalid.
        try damage(path + ".lock")
        try await SQLiteMessageStore(at: file).close()
        strace.end()
    }

    /// Overwrites the beginning of an existing file.
    private static func damage(_ path: String) throws {
        let handle = try FileHandle(forUpdating: URL(fileURLWithPath: path))
        try handle.write(contentsOf: Data(repeating: 7, count: 4_096))
        try handle.close()
    }

    @Test(.enabled(if: SystemCallTrace.isPossible, "strace may not attach to a process of this user"))
    func `store files are created with at most permissions 0600, and the umask is not changed`() async throws {
        let (path, trace) = (folder.file("new/deep/store"), folder.file("trace"))
        await #expect(processExitsWith: .success) { [path = path as String, trace = trace as String] in
            try await FileCreationTests.useStore(at: path, tracingInto: trace)
        }
        let text = try String(contentsOfFile: trace, encoding: .utf8)
        let creations = SystemCallTrace.creations(in: text, below: folder.file("new"))
        let names = Set(creations.map { URL(fileURLWithPath: $0.path).lastPathComponent })
        let expected = [
            "", "-wal", "-shm", ".lock", ".recovering", ".recovering-wal", ".recovering.template", ".recovering.copy",
        ].map { "store\($0)" }
        #expect(names.isSuperset(of: expected + ["new", "deep"]), "\(names)")
        for creation in creations {
            let isFolder = ["new", "deep"].contains(URL(fileURLWithPath: creation.path).lastPathComponent)
            let allowed = isFolder ? 0o700 : 0o600
            #expect(creation.permissions & ~allowed == 0, "\(creation.path) \(String(creation.permissions, radix: 8))")
        }
        #expect(!text.contains("umask("))
    }

    private static let suffixes = ["", ".lock", "-wal", "-shm", "-journal"]

    @Test(arguments: suffixes)
    func `a store refuses a symbolic link in place of a file, and the target is not changed`(suffix: String) throws {
        let (path, target) = (folder.file("store"), folder.file("target"))
        try Data("theirs".utf8).write(to: URL(fileURLWithPath: target))
        try FileManager.default.setAttributes([.posixPermissions: 0o644], ofItemAtPath: target)
        try FileManager.default.createSymbolicLink(atPath: path + suffix, withDestinationPath: target)
        expectCourierError(.storeFailed, path + suffix, "symbolic link") {
            try SQLiteMessageStore(at: URL(fileURLWithPath: path))
        }
        #expect(try String(contentsOfFile: target, encoding: .utf8) == "theirs")
        #expect(try FileManager.default.attributesOfItem(atPath: target)[.posixPermissions] as? Int == 0o644)
    }

    @Test(.enabled(if: geteuid() == 0, "only root can give a file away"), arguments: suffixes)
    func `opening a store throws if one of its files belongs to another user`(suffix: String) throws {
        let path = folder.file("store")
        try Data().write(to: URL(fileURLWithPath: path + suffix))
        #expect(chown(path + suffix, 65_534, 65_534) == 0 && chmod(path + suffix, 0o666) == 0)
        expectCourierError(.storeFailed, path + suffix, "belongs to user 65534") {
            try SQLiteMessageStore(at: URL(fileURLWithPath: path))
        }
        #expect(try FileManager.default.attributesOfItem(atPath: path + suffix)[.posixPermissions] as? Int == 0o666)
    }
}
