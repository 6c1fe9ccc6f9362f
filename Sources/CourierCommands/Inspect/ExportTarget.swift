import CommandArguments
import CourierCore
import CourierSQLite
import Foundation

/// The destination of an export: a file or standard output.
struct ExportTarget: ~Copyable {
    /// Thrown if the program that reads standard output has closed the pipe.
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
        if let found = try? FileStatus(path: path) {
            if let recording, let read = try? FileStatus(path: recording), read.isSameFile(as: found) {
                throw ArgumentError(
                    "\(path) is the recording itself. The export would destroy the recording.",
                    hint: "Write to another file.")
            }
            if !found.isRegular { return try openDevice(path) }
        }
        let file: FileHandle
        do throws(CourierError) { file = try PrivateFile.open(path) } catch {
            throw ArgumentError("\(path) cannot be written: \(error.message)")
        }
        do throws(SystemError) { try FileDescriptor.truncate(file.fileDescriptor) } catch { throw failure(path, error) }
        return file
    }

    /// Opens a device or a pipe. Unlike a file, it cannot be truncated.
    private static func openDevice(_ path: String) throws(ArgumentError) -> FileHandle {
        let file: FileHandle
        let found: FileStatus
        do throws(SystemError) {
            let descriptor = try FileDescriptor.openForWriting(path)
            file = FileHandle(fileDescriptor: descriptor, closeOnDealloc: true)
            found = try FileStatus(descriptor: descriptor)
        } catch {
            throw failure(path, error)
        }
        guard !found.isRegular else {
            throw ArgumentError("\(path) was replaced while it was opened.", hint: "Write to another file.")
        }
        return file
    }

    private static func failure(_ path: String, _ error: SystemError) -> ArgumentError {
        ArgumentError("\(path) cannot be written: \(error.text)")
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
