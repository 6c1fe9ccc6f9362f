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

    /// Makes the file, for this user only, since packets can be private.
    init(_ path: String?, _ console: Console) throws(ArgumentError) {
        self.console = console
        self.path = path
        guard let path else {
            file = nil
            return
        }
        let descriptor = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else {
            throw ArgumentError("\(path) can not be written: \(String(cString: strerror(errno)))")
        }
        file = FileHandle(fileDescriptor: descriptor, closeOnDealloc: true)
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
