import Foundation
import Glibc
import TestSupport

/// A `courier chat` process without a screen. A test writes its input and reads its output.
final class PlainChat: Sendable {
    struct Silent: Error {
        let output: [String]
        let errors: String
    }

    private let folder: TemporaryFolder
    private let process: ChildProcess
    /// The input of chat. The named pipe is opened for reading and writing, so that opening does not block.
    private let input: FileHandle

    /// Starts chat, optionally by another program such as `nohup`.
    init(_ options: [String], startedBy starter: [String] = []) throws {
        folder = try TemporaryFolder()
        mkfifo(folder.file("input"), 0o600)
        let descriptor = open(folder.file("input"), O_RDWR | O_CLOEXEC)
        input = FileHandle(fileDescriptor: descriptor, closeOnDealloc: true)
        let script = "exec \"$@\" >'\(folder.file("output"))' 2>'\(folder.file("errors"))'"
        process = try ChildProcess(
            ["/bin/sh", "-c", script, "run"] + starter + [try CourierExecutable.path.get(), "chat"] + options,
            inputFile: folder.file("input"))
    }

    /// The process id while chat runs.
    var id: Int32? { process.id }

    var output: [String] {
        Self.text(folder.file("output")).split(separator: "\n").map(String.init)
    }

    var errors: String { Self.text(folder.file("errors")) }

    func say(_ line: String) throws { try input.write(contentsOf: Data((line + "\n").utf8)) }

    /// Waits until chat has printed one of the lines.
    ///
    /// Chat prints into a file. A file does not report that it has grown, so this method polls.
    ///
    /// - Throws: ``Silent`` if no line is printed within ``Swift/Duration/patience``.
    func wait(for lines: String...) async throws {
        try await wait { $0.output.contains(where: lines.contains) }
    }

    /// Waits until a condition is true, and polls it.
    func wait(until isThere: (PlainChat) -> Bool) async throws {
        let end = ContinuousClock.now + .patience
        while !isThere(self) {
            guard .now < end else { throw Silent(output: output, errors: errors) }
            try await Task.sleep(for: .milliseconds(5))
        }
    }

    /// Waits until chat ends, and returns its wait status.
    func end() async -> Int32 {
        await withCheckedContinuation { continuation in
            Thread.detachNewThread { [process] in continuation.resume(returning: process.waitForEnd()) }
        }
    }

    private static func text(_ path: String) -> String {
        (try? String(contentsOfFile: path, encoding: .utf8)) ?? ""
    }
}
