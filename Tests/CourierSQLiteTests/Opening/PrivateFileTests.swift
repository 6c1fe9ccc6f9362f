import CourierCore
import CourierSQLite
import Foundation
import Glibc
import TestSupport
import Testing

@Suite struct PrivateFileTests {
    private let folder: TestSupport.TemporaryFolder
    private let path: String

    init() throws {
        folder = try TestSupport.TemporaryFolder()
        path = folder.file("data")
    }

    private func permissions(_ path: String) throws -> Int {
        try #require(FileManager.default.attributesOfItem(atPath: path)[.posixPermissions] as? Int)
    }

    private func write(_ text: String, permissions: Int) throws {
        try Data(text.utf8).write(to: URL(fileURLWithPath: path))
        try FileManager.default.setAttributes([.posixPermissions: permissions], ofItemAtPath: path)
    }

    @Test func `a new private file is empty and has permissions 0600`() throws {
        try PrivateFile.prepare(path)
        #expect(try permissions(path) == 0o600)
        #expect(try Data(contentsOf: URL(fileURLWithPath: path)).isEmpty)
    }

    @Test(arguments: [0o644, 0o666, 0o640, 0o600, 0o4600])
    func `an existing file keeps its contents and gets permissions 0600`(before: Int) throws {
        try write("kept", permissions: before)
        try PrivateFile.prepare(path)
        #expect(try permissions(path) == 0o600)
        #expect(try String(contentsOfFile: path, encoding: .utf8) == "kept")
    }

    @Test func `restricting the permissions of a missing file does not create the file`() throws {
        #expect(try !PrivateFile.restrictIfPresent(path))
        #expect(!FileManager.default.fileExists(atPath: path))
    }

    @Test(arguments: [true, false])
    func `a symbolic link is refused, and its target is not changed`(hasTarget: Bool) throws {
        let target = folder.file("target")
        if hasTarget {
            try Data("theirs".utf8).write(to: URL(fileURLWithPath: target))
            try FileManager.default.setAttributes([.posixPermissions: 0o644], ofItemAtPath: target)
        }
        try FileManager.default.createSymbolicLink(atPath: path, withDestinationPath: target)
        expectCourierError(.storeFailed, path, "symbolic link", "remove the link") { try PrivateFile.prepare(path) }
        expectCourierError(.storeFailed, path, "symbolic link") { try PrivateFile.open(path) }
        #expect(FileManager.default.fileExists(atPath: target) == hasTarget)
        if hasTarget { #expect(try permissions(target) == 0o644) }
    }

    @Test(.enabled(if: geteuid() == 0, "only root can give a file away"))
    func `a file of another user is refused and not changed`() throws {
        try write("theirs", permissions: 0o644)
        #expect(chown(path, 65_534, 65_534) == 0)
        expectCourierError(.storeFailed, path, "belongs to user 65534", "Remove the file") {
            try PrivateFile.prepare(path)
        }
        expectCourierError(.storeFailed, path, "belongs to user 65534") { try PrivateFile.open(path) }
        #expect(try permissions(path) == 0o644)
    }

    @Test(arguments: [false, true])
    func `a folder or a pipe in place of the file is refused`(isFolder: Bool) throws {
        if isFolder { try #require(mkdir(path, 0o700) == 0) } else { try #require(mkfifo(path, 0o600) == 0) }
        expectCourierError(.storeFailed, path, isFolder ? "is a folder" : "is not a regular file") {
            try PrivateFile.prepare(path)
        }
    }

    @Test func `the error for a missing folder contains its path`() throws {
        let file = folder.file("missing/data")
        expectCourierError(.storeFailed, file, "No such file or directory", "Choose a folder") {
            try PrivateFile.prepare(file)
        }
    }

    /// SQLite locks files with `fcntl`. If the process closes any descriptor of the file, these locks are lost.
    @Test(arguments: [0o600, 0o644])
    func `prepare() does not release locks that this process holds on the file`(before: Int) throws {
        try write("locked", permissions: before)
        let holder = open(path, O_RDWR | O_CLOEXEC)
        let other = open(path, O_RDWR | O_CLOEXEC)
        defer {
            close(holder)
            close(other)
        }
        var lock = flock()
        lock.l_type = Int16(F_WRLCK)
        lock.l_whence = Int16(SEEK_SET)
        #expect(fcntl(holder, F_SETLK, &lock) == 0)
        try PrivateFile.prepare(path)
        // A query with F_OFD_GETLK (36) also finds the locks of this process. Swift does not import the constant.
        lock.l_pid = 0
        #expect(fcntl(other, 36, &lock) == 0)
        #expect(lock.l_type == Int16(F_WRLCK) && lock.l_pid == getpid())
    }

    @Test func `a file opened for writing gets permissions 0600 and is not truncated`() throws {
        try write("contents", permissions: 0o644)
        let file = try PrivateFile.open(path)
        try file.write(contentsOf: Data("CON".utf8))
        try file.close()
        #expect(try String(contentsOfFile: path, encoding: .utf8) == "CONtents")
        #expect(try permissions(path) == 0o600)
    }

    @Test func `new folders get permissions 0700, and existing folders keep their permissions`() throws {
        try FileManager.default.setAttributes([.posixPermissions: 0o755], ofItemAtPath: folder.path)
        let deep = folder.file("a/b")
        try PrivateFile.makeFolder(deep)
        try PrivateFile.makeFolder(deep)
        #expect(try permissions(deep) == 0o700 && permissions(folder.file("a")) == 0o700)
        #expect(try permissions(folder.path) == 0o755)
        try write("", permissions: 0o600)
        expectCourierError(.storeFailed, path + "/c", "cannot be created") { try PrivateFile.makeFolder(path + "/c") }
        expectCourierError(.storeFailed, path, "cannot be created") { try PrivateFile.makeFolder(path) }
    }
}
