import CommandArguments
import Foundation
import Glibc

/// Where an export goes: to a file of its own, or to standard output.
struct ExportTarget: ~Copyable {
    /// Nobody reads the output any more.
    struct Closed: Error {}

    private let console: Console
    private let file: FileHandle?
    private let path: String?

    /// Opens the file, made when it is missing, for this user only, since packets can be private. What it held before is
    /// gone then.
    ///
    /// - Parameters:
    ///   - path: The file; `nil` is standard output.
    ///   - recording: What is read, which is never written to.
    ///   - console: Standard output.
    /// - Throws: That it can not be written, or is the recording.
    init(_ path: String?, of recording: String, _ console: Console) throws(ArgumentError) {
        self.console = console
        self.path = path
        file = try path.map { path throws(ArgumentError) in
            // Nothing is cut off before it is known what the file is.
            let descriptor = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0o600)
            guard descriptor >= 0 else { throw Self.failure(path) }
            let file = FileHandle(fileDescriptor: descriptor, closeOnDealloc: true)
            try Self.empty(descriptor, path, of: recording)
            return file
        }
    }

    private static func empty(_ descriptor: Int32, _ path: String, of recording: String) throws(ArgumentError) {
        var found = stat()
        guard fstat(descriptor, &found) == 0 else { throw failure(path) }
        var read = stat()
        if stat(recording, &read) == 0, read.st_dev == found.st_dev, read.st_ino == found.st_ino {
            throw ArgumentError(
                "\(path) is the recording itself, which the export would destroy.", hint: "Write to another file.")
        }
        // A device or a pipe has neither a length nor an owner of its packets.
        guard found.st_mode & S_IFMT == S_IFREG else { return }
        guard fchmod(descriptor, 0o600) == 0, ftruncate(descriptor, 0) == 0 else { throw failure(path) }
    }

    private static func failure(_ path: String) -> ArgumentError {
        ArgumentError("\(path) can not be written: \(String(cString: strerror(errno)))")
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
            throw ArgumentError("\(path) can not be written: \(error.localizedDescription)")
        }
    }
}
