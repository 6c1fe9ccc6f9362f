import Foundation
import Glibc
import TrialSupport

/// The file with the notes of all workers, as a worker writes it.
struct NoteFile: Sendable {
    private let file: Int32

    /// Opens the file, and creates it if it does not exist. Starts a new line, because a kill may have cut the last line
    /// of the process before.
    init(_ path: String) throws {
        file = open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0o600)
        guard file >= 0 else { throw ChildProcess.Failure(description: "\(path): \(String(cString: strerror(errno)))") }
        add("\n")
    }

    /// Adds notes. Afterwards, they survive a kill.
    func add(_ notes: [JobNote]) {
        if !notes.isEmpty { add(notes.map { $0.line + "\n" }.joined()) }
    }

    private func add(_ text: String) {
        let bytes = Array(text.utf8)
        guard write(file, bytes, bytes.count) == bytes.count else {
            return WorkerLine.trouble("a note can not be written: \(String(cString: strerror(errno)))").report()
        }
    }
}

/// The file with the notes of all workers, as the parent reads it.
struct NoteReader {
    private let file: FileHandle
    /// The start of a line whose end is not written yet.
    private var rest = ""

    init(_ path: String) throws {
        _ = try NoteFile(path)  // Creates the file.
        file = try FileHandle(forReadingFrom: URL(fileURLWithPath: path))
    }

    /// Returns the notes that were added since the last call, and the number of lines that are cut.
    mutating func next() throws -> (notes: [JobNote], cutCount: Int) {
        let text = rest + String(decoding: try file.readToEnd() ?? Data(), as: UTF8.self)
        var lines = text.split(separator: "\n", omittingEmptySubsequences: false)
        rest = String(lines.removeLast())
        lines.removeAll(where: \.isEmpty)
        let notes = lines.compactMap { JobNote(line: $0) }
        return (notes, lines.count - notes.count)
    }
}
