import Foundation

/// Prints lines in columns: time, participant, event. Colors are used only on terminals, and only without `NO_COLOR`.
@MainActor final class Screen {
    enum Tone: String {
        case plain = ""
        case strong = "\u{1B}[1m"
        case quiet = "\u{1B}[2m"
        case good = "\u{1B}[32m"
        case bad = "\u{1B}[31m"
        case notable = "\u{1B}[33m"
    }

    let start = ContinuousClock.now
    private let isColoured: Bool

    init() {
        let environment = ProcessInfo.processInfo.environment
        isColoured =
            isatty(STDOUT_FILENO) == 1 && environment["NO_COLOR", default: ""].isEmpty && environment["TERM"] != "dumb"
    }

    /// Prints one event of the demo.
    func tell(_ who: String, _ what: String, _ tone: Tone = .plain) {
        let time = Self.right(Self.seconds(ContinuousClock.now - start), 7)
        write(paint(time, .quiet) + "  " + paint(Self.left(who, 9), .strong) + paint(what, tone))
    }

    func title(_ text: String) { write("\n" + paint(text, .strong)) }
    func row(_ name: String, _ what: String, _ tone: Tone = .plain) {
        write("  " + Self.left(name, 16) + paint(what, tone))
    }
    func line(_ text: String, _ tone: Tone = .plain) { write(paint(text, tone)) }

    /// Formats a duration in the form `1.04 s`.
    static func seconds(_ duration: Duration) -> String { String(format: "%.2f s", duration / .seconds(1)) }
    /// Formats a duration in the form `12 ms`.
    static func milliseconds(_ duration: Duration) -> String { String(format: "%.0f ms", duration / .milliseconds(1)) }

    private static func left(_ text: String, _ width: Int) -> String {
        text.padding(toLength: max(width, text.count), withPad: " ", startingAt: 0)
    }

    private static func right(_ text: String, _ width: Int) -> String {
        String(repeating: " ", count: max(0, width - text.count)) + text
    }

    private func paint(_ text: String, _ tone: Tone) -> String {
        isColoured && tone != .plain ? tone.rawValue + text + "\u{1B}[0m" : text
    }

    /// Writes a line without the buffer of `print`, so that it is visible at once, even through a pipe.
    private func write(_ line: String) { try? FileHandle.standardOutput.write(contentsOf: Data((line + "\n").utf8)) }
}
