import Foundation
import Glibc
import TestSupport

/// A `courier chat` with lines in and lines out, which a test talks to.
final class PlainChat: Sendable {
    struct Silent: Error {
        let output: [String]
        let errors: String
    }

    private let folder: TemporaryFolder
    private let process: ChildProcess
    /// Where its lines come from; the pipe of a name is opened for both ways, so that nobody waits for the other end.
    private let input: FileHandle

    /// Starts it, maybe by a program that starts others.
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

    /// Its process id while it runs.
    var id: Int32? { process.id }

    var output: [String] {
        Self.text(folder.file("output")).split(separator: "\n").map(String.init)
    }

    var errors: String { Self.text(folder.file("errors")) }

    func say(_ line: String) throws { try input.write(contentsOf: Data((line + "\n").utf8)) }

    /// Waits until it has printed one of some lines.
    ///
    /// It prints into a file, which tells nobody that it has grown: it is looked at again and again.
    ///
    /// - Throws: ``Silent`` when it has not within ``Swift/Duration/patience``.
    func wait(for lines: String...) async throws {
        try await wait { $0.output.contains(where: lines.contains) }
    }

    /// Waits until something has happened, in the same way.
    func wait(until isThere: (PlainChat) -> Bool) async throws {
        let end = ContinuousClock.now + .patience
        while !isThere(self) {
            guard .now < end else { throw Silent(output: output, errors: errors) }
            try await Task.sleep(for: .milliseconds(5))
        }
    }

    /// Waits for its end; returns the status.
    func end() async -> Int32 {
        await withCheckedContinuation { continuation in
            Thread.detachNewThread { [process] in continuation.resume(returning: process.waitForEnd()) }
        }
    }

    private static func text(_ path: String) -> String {
        (try? String(contentsOfFile: path, encoding: .utf8)) ?? ""
    }
}
