import Foundation
import TestSupport

/// A program on a terminal of tmux. Tests type keys and read the screen through tmux.
///
/// The program runs below a shell. The shell compares the terminal's modes before and after, and prints the exit code.
/// If the program is suspended, Enter resumes it.
final class TerminalSession: Sendable {
    /// Thrown if the screen does not show the text that a test waits for.
    struct Unseen: Error, CustomStringConvertible {
        let lines: [String]
        var description: String { (["The terminal shows:"] + lines).joined(separator: "\n") }
    }

    private let folder: TemporaryFolder

    /// Starts a program.
    ///
    /// - Parameters:
    ///   - words: The path and the arguments of the program.
    ///   - columns: The width of the terminal.
    ///   - rows: The height of the terminal.
    ///   - environment: Changed environment variables, such as `NO_COLOR=1`.
    /// - Throws: An error if tmux cannot be started.
    init(_ words: [String], columns: Int = 80, rows: Int = 24, environment: [String] = []) throws {
        folder = try TemporaryFolder()
        let script = """
            cd '\(folder.path)'
            stty -g >before
            (echo $BASHPID >id; exec /usr/bin/env "$@")
            code=$?
            while [ $code = 147 ]; do
                stty -g >after
                cmp -s before after && echo 'stopped'
                read -r line
                fg >/dev/null
                code=$?
            done
            stty -g >after
            cmp -s before after && echo "ended with $code" || echo "ended with $code, in other modes"
            exec sleep 600
            """
        try tmux(
            ["-f", "/dev/null", "-u", "new-session", "-d", "-x", "\(columns)", "-y", "\(rows)"] + [
                "/usr/bin/env", "-u", "NO_COLOR", "-u", "XDG_CONFIG_HOME", "HOME=\(folder.path)", "TZ=UTC", "/bin/bash",
                "-mc", script, "run",
            ] + environment + words)
    }

    deinit { _ = try? tmux(["kill-server"]) }

    /// The program's process id.
    var id: Int32? {
        get async throws {
            try await wait { _ in FileManager.default.fileExists(atPath: folder.file("id")) }
            let text = try String(contentsOfFile: folder.file("id"), encoding: .utf8)
            return Int32(text.trimmingCharacters(in: .whitespacesAndNewlines))
        }
    }

    /// The rows of the screen, without the blanks at their ends.
    var lines: [String] { get throws { try capture([]) } }

    /// The rows with the escape sequences of their styles.
    var styledLines: [String] { get throws { try capture(["-e"]) } }

    private func capture(_ options: [String]) throws -> [String] {
        String(decoding: try tmux(["capture-pane", "-p"] + options), as: UTF8.self)
            .split(separator: "\n", omittingEmptySubsequences: false).dropLast().map(String.init)
    }

    /// A format of tmux, such as `#{alternate_on}`.
    func ask(_ format: String) throws -> String {
        String(decoding: try tmux(["display-message", "-p", format]), as: UTF8.self)
            .trimmingCharacters(in: .whitespacesAndNewlines)
    }

    /// Types a text.
    func type(_ text: String) throws { try tmux(["send-keys", "-l", "--", text]) }

    /// Types a text, and Enter.
    func enter(_ text: String) throws {
        try type(text)
        try press("Enter")
    }

    /// Presses keys by tmux's names for them, such as `Enter`, `PPage` or `C-c`.
    func press(_ keys: String...) throws { try tmux(["send-keys"] + keys) }

    /// Pastes a text, with the marks of a bracketed paste.
    func paste(_ text: String) throws {
        try tmux(["set-buffer", "--", text])
        try tmux(["paste-buffer", "-p"])
    }

    func resize(columns: Int, rows: Int) throws {
        try tmux(["resize-window", "-x", "\(columns)", "-y", "\(rows)"])
    }

    /// Waits until the screen meets a condition.
    ///
    /// tmux does not report a changed screen, so this method polls.
    ///
    /// - Throws: ``Unseen`` if the condition is not met within ``Swift/Duration/patience``.
    func wait(until isThere: ([String]) throws -> Bool) async throws {
        let end = ContinuousClock.now + .patience
        while true {
            let lines = try lines
            if try isThere(lines) { return }
            guard .now < end else { throw Unseen(lines: lines) }
            try await Task.sleep(for: .milliseconds(20))
        }
    }

    /// Waits until a row contains a text.
    func wait(for text: String) async throws { try await wait { $0.contains { $0.contains(text) } } }

    @discardableResult
    private func tmux(_ words: [String]) throws -> [UInt8] {
        try ChildProcess.run(["/usr/bin/tmux", "-S", folder.file("tmux")] + words)
    }
}
