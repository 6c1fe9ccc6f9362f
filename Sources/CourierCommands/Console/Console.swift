import Foundation
import Synchronization

/// The input, output and environment of a command.
///
/// Each command gets its console as an argument, so that tests can use files as its input and output.
package final class Console: Sendable {
    /// The maximum size of buffered output in bytes.
    static let bufferSize = 64 << 10

    /// The environment of the process.
    package let environment: [String: String]
    /// The descriptor that messages are read from.
    package let input: Int32
    /// The descriptor that messages are printed to.
    package let output: Int32
    private let errors: Int32
    private let waiting = Mutex<[UInt8]>([])
    private let state = Mutex(State())

    private struct State {
        var isQuiet = false
        /// True while the last output to the terminal is the line that ``draw(_:)`` has drawn.
        var isBehindDrawing = false
        /// The error of the failed write, if the output can no longer be written; otherwise `nil`.
        var outputFailure: SystemError?
    }

    /// Makes a console for these descriptors, which it does not close.
    ///
    /// - Parameters:
    ///   - input: The descriptor for input; standard input by default.
    ///   - output: The descriptor for messages; standard output by default.
    ///   - errors: The descriptor for errors; standard error by default.
    ///   - environment: The environment variables; by default, those of the process.
    package init(
        input: Int32 = FileDescriptor.standardInput, output: Int32 = FileDescriptor.standardOutput,
        errors: Int32 = FileDescriptor.standardError,
        environment: [String: String] = ProcessInfo.processInfo.environment
    ) {
        self.input = input
        self.output = output
        self.errors = errors
        self.environment = environment
    }

    /// True if the output is a terminal.
    package var isOutputTerminal: Bool { FileDescriptor.isTerminal(output) }
    /// True if the error output is a terminal.
    package var isErrorTerminal: Bool { FileDescriptor.isTerminal(errors) }
    /// The number of columns of the error terminal.
    var errorColumns: Int { TerminalSize(of: errors).columns }
    /// True if the input is a terminal.
    package var isInputTerminal: Bool { FileDescriptor.isTerminal(input) }

    /// True if output may have colors: it is a terminal, and the user has not disabled colors (no-color.org).
    package var hasColours: Bool {
        isOutputTerminal && environment["NO_COLOR", default: ""].isEmpty && environment["TERM"] != "dumb"
    }

    /// True if the output can no longer be written, for example because its reader has closed it.
    package var isOutputClosed: Bool { state.withLock { $0.outputFailure != nil } }

    /// The system's error message if the output cannot be written. It is `nil` if the reader of the output has closed
    /// it.
    package var outputProblem: String? {
        guard let failure = state.withLock({ $0.outputFailure }), !failure.isClosedByPeer else { return nil }
        return failure.text
    }

    // MARK: Output

    /// Adds bytes to the output buffer. They are printed by ``flush()`` at the latest.
    package func write(_ bytes: some Sequence<UInt8>) {
        let isFull = waiting.withLock { waiting in
            waiting.append(contentsOf: bytes)
            return waiting.count >= Self.bufferSize
        }
        if isFull { flush() }
    }

    /// Adds text to the output buffer.
    package func write(_ text: String) { write(text.utf8) }

    /// Prints the buffered output; blocks while its reader is slow.
    package func flush() {
        let bytes = waiting.withLock { waiting in
            defer { waiting.removeAll(keepingCapacity: true) }
            return waiting
        }
        if bytes.isEmpty || isOutputClosed { return }
        do throws(SystemError) { try FileDescriptor.writeAll(bytes, to: output) } catch {
            state.withLock { $0.outputFailure = error }
        }
    }

    // MARK: Errors

    /// Suppresses the lines of ``tell(_:)`` from now on.
    package func beQuiet() { state.withLock { $0.isQuiet = true } }

    /// Prints a line to the error output, unless quiet mode is set.
    package func tell(_ line: String) {
        if state.withLock({ $0.isQuiet }) { return }
        complain(line)
    }

    /// Prints an extra line that the mosquitto clients do not print, unless quiet mode is set. It is printed only on a
    /// terminal, so that scripts get the same lines from courier and from the mosquitto clients.
    package func explain(_ line: String) { if isErrorTerminal { tell(line) } }

    /// Prints a line to the error output, even in quiet mode, because the command line itself is wrong.
    package func complain(_ line: String) { writeToErrors(line + "\n") }

    /// Prints text to the error output unchanged, after erasing a drawn line.
    package func writeToErrors(_ text: String) {
        flush()
        erase()
        try? FileDescriptor.writeAll(Array(text.utf8), to: errors)
    }

    /// Draws a line on the error terminal. It replaces the previous drawn line.
    package func draw(_ line: String) {
        flush()
        try? FileDescriptor.writeAll(Array((Self.lineErasure + line).utf8), to: errors)
        state.withLock { $0.isBehindDrawing = true }
    }

    /// Erases the last drawn line, unless something was printed after it.
    package func erase() {
        let isBehindDrawing = state.withLock { state in
            defer { state.isBehindDrawing = false }
            return state.isBehindDrawing
        }
        if isBehindDrawing { try? FileDescriptor.writeAll(Array(Self.lineErasure.utf8), to: errors) }
    }

    /// Moves to the beginning of the line and erases the line.
    private static let lineErasure = "\r\u{1B}[K"
}
