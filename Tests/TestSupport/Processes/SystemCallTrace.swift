import Foundation
import Glibc

/// Records the system calls of this process that create files or change the umask, with `strace`.
///
/// Use it in an exit test, because that process does no other work.
package final class SystemCallTrace {
    /// A call that creates a file or a folder.
    package struct Creation: Hashable, Sendable {
        package let path: String
        package let permissions: Int
    }

    private static let calls = "open,openat,openat2,creat,mkdir,mkdirat,mknod,mknodat,umask"

    /// True if a child process is allowed to trace this process.
    package static var isPossible: Bool {
        if geteuid() == 0 { return true }
        let scope = try? String(contentsOfFile: "/proc/sys/kernel/yama/ptrace_scope", encoding: .utf8)
        return scope.map { $0.hasPrefix("0") } ?? true
    }

    private let strace: ChildProcess

    /// Starts to write the calls of all threads of this process to a file. Returns when strace is attached.
    package init(into file: String) async throws {
        strace = try ChildProcess([
            "strace", "-f", "-s", "4096", "-e", "trace=\(Self.calls)", "-e", "signal=none", "-o", file, "-p",
            "\(getpid())",
        ])
        if let words = await strace.lastWords(before: "attached") {
            throw ChildProcess.Failure(description: "strace does not trace this process: \(words)")
        }
    }

    /// Stops the trace. Afterwards, the file is complete.
    package func end() { strace.end(by: SIGINT) }

    /// Returns the calls that created a file or folder below `folder`, or would have created it if it did not exist.
    package static func creations(in trace: String, below folder: String) -> [Creation] {
        trace.split(separator: "\n").compactMap { line in
            guard let path = line.firstMatch(of: #/"(?<path>[^"]*)"/#)?.path, path.hasPrefix(folder) else { return nil }
            let behind = line[path.endIndex...]
            guard behind.contains("O_CREAT") || line.contains("mkdir") || line.contains("mknod"),
                let octal = behind.firstMatch(of: #/, (?<octal>0[0-7]*)(?:\)| <unfinished|$)/#)?.octal
            else { return nil }
            return Int(octal, radix: 8).map { Creation(path: String(path), permissions: $0) }
        }
    }
}
