import Foundation
import TestSupport

/// A running program whose output, errors and exit code are recorded separately.
final class ProgramRun: Sendable {
    /// The result of a run.
    struct Outcome: Hashable, Sendable {
        var output: [UInt8]
        var errors: String
        /// The exit code, or 128 plus the number of the signal.
        var code: Int32

        var text: String { String(decoding: output, as: UTF8.self) }
        /// The lines of the standard error that are not empty.
        var errorLines: [String] { errors.split(separator: "\n").map(String.init) }
    }

    /// Thrown if the program did not print the text that a test waits for.
    struct Silent: Error {
        let output: String
        let errors: String
    }

    private let folder: TemporaryFolder
    private let process: ChildProcess

    /// Starts a program.
    ///
    /// - Parameters:
    ///   - words: The path and the arguments of the program.
    ///   - input: The standard input.
    ///   - environment: The environment; by default, the environment of the test with an empty home folder.
    /// - Throws: An error if the program cannot be started.
    init(_ words: [String], input: [UInt8] = [], environment: [String]? = nil) throws {
        folder = try TemporaryFolder()
        try Data(input).write(to: URL(fileURLWithPath: folder.file("input")))
        let arguments = environment.map { ["-i"] + $0 } ?? ["-u", "XDG_CONFIG_HOME", "HOME=\(folder.path)"]
        let script = "exec /usr/bin/env \"$@\" >'\(folder.file("output"))' 2>'\(folder.file("errors"))'"
        process = try ChildProcess(
            ["/bin/sh", "-c", script, "run"] + arguments + words, inputFile: folder.file("input"))
    }

    /// The process id while the program runs.
    var id: Int32? { process.id }

    /// The standard output so far.
    var output: [UInt8] { Self.bytes(folder.file("output")) }

    /// The standard error so far.
    var errors: String { String(decoding: Self.bytes(folder.file("errors")), as: UTF8.self) }

    /// Waits until the output or the errors meet a condition.
    ///
    /// The program writes into files. A file does not report that it has grown, so this method polls.
    ///
    /// - Throws: ``Silent`` if the condition is not met within ``Swift/Duration/patience``.
    func wait(until isThere: (ProgramRun) -> Bool) async throws {
        let end = ContinuousClock.now + .patience
        while !isThere(self) {
            guard .now < end else { throw Silent(output: String(decoding: output, as: UTF8.self), errors: errors) }
            try await Task.sleep(for: .milliseconds(5))
        }
    }

    /// Waits until the program ends.
    func end() async -> Outcome {
        let status = await withCheckedContinuation { continuation in
            Thread.detachNewThread { [process] in continuation.resume(returning: process.waitForEnd()) }
        }
        return Outcome(
            output: output, errors: errors, code: status & 0x7F == 0 ? (status >> 8) & 0xFF : 128 + status & 0x7F)
    }

    private static func bytes(_ path: String) -> [UInt8] {
        (try? Data(contentsOf: URL(fileURLWithPath: path))).map { [UInt8]($0) } ?? []
    }
}
