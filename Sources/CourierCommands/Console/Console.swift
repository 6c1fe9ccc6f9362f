import Foundation
import Glibc
import Synchronization

/// What a command writes to and reads from, and what it was started with.
///
/// Commands take it as an argument, so that a test can give them files of its own.
package final class Console: Sendable {
    /// How much output waits at most before it is written.
    static let bufferSize = 64 << 10

    /// The environment it was started with.
    package let environment: [String: String]
    /// Where messages are read from.
    package let input: Int32
    /// Where messages are printed.
    package let output: Int32
    private let errors: Int32
    private let waiting = Mutex<[UInt8]>([])
    private let state = Mutex(State())

    private struct State {
        var isQuiet = false
        /// Whether the cursor stands behind what ``draw(_:)`` has drawn.
        var isBehindDrawing = false
        /// Why the output takes nothing more: an error number.
        var outputFailure: Int32?
    }

    /// A console of these descriptors, which stay open.
    ///
    /// - Parameters:
    ///   - input: Where messages are read from; standard input by default.
    ///   - output: Where messages are printed; standard output by default.
    ///   - errors: Where errors are printed; standard error by default.
    ///   - environment: The environment; the process's by default.
    package init(
        input: Int32 = STDIN_FILENO, output: Int32 = STDOUT_FILENO, errors: Int32 = STDERR_FILENO,
        environment: [String: String] = ProcessInfo.processInfo.environment
    ) {
        self.input = input
        self.output = output
        self.errors = errors
        self.environment = environment
    }

    /// Whether a person looks at the output.
    package var isOutputTerminal: Bool { isatty(output) == 1 }
    /// Whether a person looks at the errors.
    package var isErrorTerminal: Bool { isatty(errors) == 1 }
    /// Whether a person types the input.
    package var isInputTerminal: Bool { isatty(input) == 1 }

    /// Whether output may have colours: a person looks at it, and did not say otherwise (no-color.org).
    package var hasColours: Bool {
        isOutputTerminal && environment["NO_COLOR", default: ""].isEmpty && environment["TERM"] != "dumb"
    }

    /// Whether the output takes nothing more: whoever read it has gone, or it cannot be written.
    package var isOutputClosed: Bool { state.withLock { $0.outputFailure != nil } }

    /// Why the output cannot be written, in the system's words; `nil` also where whoever read it has gone.
    package var outputProblem: String? {
        guard let failure = state.withLock({ $0.outputFailure }), failure != EPIPE, failure != ECONNRESET else {
            return nil
        }
        return String(cString: strerror(failure))
    }

    // MARK: Output

    /// Takes bytes to be printed, which ``flush()`` does at the latest.
    package func write(_ bytes: some Sequence<UInt8>) {
        let isFull = waiting.withLock { waiting in
            waiting.append(contentsOf: bytes)
            return waiting.count >= Self.bufferSize
        }
        if isFull { flush() }
    }

    /// Takes text to be printed.
    package func write(_ text: String) { write(text.utf8) }

    /// Prints what waits; blocks while the reader it is slow.
    package func flush() {
        let bytes = waiting.withLock { waiting in
            defer { waiting.removeAll(keepingCapacity: true) }
            return waiting
        }
        if bytes.isEmpty || isOutputClosed { return }
        if let failure = Self.write(bytes, to: output) { state.withLock { $0.outputFailure = failure } }
    }

    // MARK: Errors

    /// From now on ``tell(_:)`` prints nothing.
    package func beQuiet() { state.withLock { $0.isQuiet = true } }

    /// Prints a line for whoever runs the command, unless it is to be quiet.
    package func tell(_ line: String) {
        if state.withLock({ $0.isQuiet }) { return }
        complain(line)
    }

    /// Prints a line that the mosquitto clients do not have, unless it is to be quiet: for a person at a terminal only, so
    /// that scripts read the same lines from both.
    package func explain(_ line: String) { if isErrorTerminal { tell(line) } }

    /// Prints a line for whoever runs the command, also when it is to be quiet: the command line itself is wrong.
    package func complain(_ line: String) { writeToErrors(line + "\n") }

    /// Prints to the errors as it is, in the place of what is drawn there.
    package func writeToErrors(_ text: String) {
        flush()
        erase()
        _ = Self.write(Array(text.utf8), to: errors)
    }

    /// Draws a line on the terminal of the errors, in the place of the one before, until something else is printed there.
    package func draw(_ line: String) {
        flush()
        _ = Self.write(Array((Self.lineErasure + line).utf8), to: errors)
        state.withLock { $0.isBehindDrawing = true }
    }

    /// Takes away what was drawn last, unless something was printed behind it.
    package func erase() {
        let isBehindDrawing = state.withLock { state in
            defer { state.isBehindDrawing = false }
            return state.isBehindDrawing
        }
        if isBehindDrawing { _ = Self.write(Array(Self.lineErasure.utf8), to: errors) }
    }

    /// Goes to the beginning of the line, and erases it.
    private static let lineErasure = "\r\u{1B}[K"

    /// Writes all bytes; returns the error number when they are not taken any more.
    private static func write(_ bytes: [UInt8], to descriptor: Int32) -> Int32? {
        bytes.withUnsafeBytes { bytes -> Int32? in
            var rest = bytes[...]
            while !rest.isEmpty {
                let part = UnsafeRawBufferPointer(rebasing: rest)
                let count = Glibc.write(descriptor, part.baseAddress, part.count)
                if count > 0 {
                    rest = rest.dropFirst(count)
                } else if errno == EAGAIN {
                    var waiting = pollfd(fd: descriptor, events: Int16(POLLOUT), revents: 0)
                    _ = poll(&waiting, 1, -1)
                } else if errno != EINTR {
                    return errno
                }
            }
            return nil
        }
    }
}
