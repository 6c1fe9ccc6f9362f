import CommandArguments
import CourierCore
import CourierSQLite
import Foundation
import Glibc

/// The destination of an export: a file or standard output.
struct ExportTarget: ~Copyable {
    /// Thrown if the reader of standard output has closed it.
    struct Closed: Error {}

    private let console: Console
    private let file: FileHandle?
    private let path: String?

    /// Opens the file and removes its contents. A new file is readable for this user only, because packets can contain
    /// private data.
    ///
    /// - Parameters:
    ///   - path: The path of the file, or `nil` for standard output.
    ///   - recording: The path of the recording that is exported. The export must not overwrite it. `nil` if the packets
    ///     are not in a file.
    ///   - console: The console whose standard output is used.
    /// - Throws: An error if the file cannot be written, is the recording itself, is a symbolic link to a file, or
    ///   belongs to another user.
    init(_ path: String?, of recording: String?, _ console: Console) throws(ArgumentError) {
        self.console = console
        self.path = path
        file = try path.map { path throws(ArgumentError) in try Self.open(path, of: recording) }
    }

    private static func open(_ path: String, of recording: String?) throws(ArgumentError) -> FileHandle {
        var found = stat()
        if stat(path, &found) == 0 {
            var read = stat()
            if let recording, stat(recording, &read) == 0, read.st_dev == found.st_dev, read.st_ino == found.st_ino {
                throw ArgumentError(
                    "\(path) is the recording itself. The export would destroy the recording.",
                    hint: "Write to another file.")
            }
            if found.st_mode & S_IFMT != S_IFREG { return try openDevice(path) }
        }
        let file: FileHandle
        do throws(CourierError) { file = try PrivateFile.open(path) } catch {
            throw ArgumentError("\(path) cannot be written: \(error.message)")
        }
        guard ftruncate(file.fileDescriptor, 0) == 0 else { throw failure(path) }
        return file
    }

    /// Opens a device or a pipe. Unlike a file, it cannot be truncated.
    private static func openDevice(_ path: String) throws(ArgumentError) -> FileHandle {
        let descriptor = Glibc.open(path, O_WRONLY | O_CLOEXEC)
        guard descriptor >= 0 else { throw failure(path) }
        let file = FileHandle(fileDescriptor: descriptor, closeOnDealloc: true)
        var found = stat()
        guard fstat(descriptor, &found) == 0 else { throw failure(path) }
        guard found.st_mode & S_IFMT != S_IFREG else {
            throw ArgumentError("\(path) was replaced while it was opened.", hint: "Write to another file.")
        }
        return file
    }

    private static func failure(_ path: String) -> ArgumentError {
        ArgumentError("\(path) cannot be written: \(String(cString: strerror(errno)))")
    }

    func write(_ data: Data) throws {
        guard let file, let path else {
            console.write(data)
            if console.isOutputClosed { throw Closed() }
            return
        }
        do {
            try file.write(contentsOf: data)
        } catch {
            throw ArgumentError("\(path) cannot be written: \(error.localizedDescription)")
        }
    }
}
