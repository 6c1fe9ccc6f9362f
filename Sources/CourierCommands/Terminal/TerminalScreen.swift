import CommandArguments
import Dispatch
import Glibc
import Synchronization

/// The terminal as one screen that is drawn as a whole, and the keys that are typed there.
///
/// ```swift
/// let screen = TerminalScreen(console, on: queue) { happened in … }
/// try screen.open()
/// screen.show(frame)
/// screen.close { … }
/// ```
///
/// The terminal is given back by ``close(_:)``, while the program is suspended, and when it crashes; signals that end the
/// program are its own to watch. A terminal that is slow misses frames: one is written, the last one waits.
///
/// Safe to share: everything that changes is touched on the queue only.
final class TerminalScreen: @unchecked Sendable {
    enum Event: Sendable {
        case keys([Key])
        case resized(TerminalSize)
        /// The terminal has gone, and nothing more will come from it.
        case hungUp
    }

    private enum Phase { case closed, open, suspended, closing }

    /// How much is read at once.
    private static let chunk = 4_096
    /// How long a terminal that takes nothing more delays the end.
    private static let closingTime = DispatchTimeInterval.seconds(2)

    private let console: Console
    private let queue: DispatchQueue
    private let output = DispatchQueue(label: "courier.terminal")
    private let happened: @Sendable (Event) -> Void

    // MARK: On the queue only

    private var phase = Phase.closed
    private var painter: FramePainter
    private var isWriting = false
    /// What is to be written behind what is being written.
    private var waitingFrame: Frame?
    /// The terminal's modes before ``open()``.
    private var modes = termios()
    private var decoder = KeyDecoder()
    /// Counts what was read, so that a silence is one.
    private var readCount = 0
    private var reader: (any DispatchSourceRead)?
    private var signals: SignalWatch?

    /// Makes a screen that is not open yet.
    ///
    /// - Parameters:
    ///   - console: Its input and output are the terminal.
    ///   - queue: Where everything happens; the methods are called there.
    ///   - happened: Learns of keys and sizes, on the queue.
    init(_ console: Console, on queue: DispatchQueue, happened: @escaping @Sendable (Event) -> Void) {
        self.console = console
        self.queue = queue
        self.happened = happened
        painter = FramePainter(hasColours: console.hasColours)
    }

    /// Whether input and output are a terminal on which a screen can be drawn.
    static func isPossible(on console: Console) -> Bool {
        console.isInputTerminal && console.isOutputTerminal
            && !["", "dumb"].contains(console.environment["TERM", default: ""])
    }

    /// How large it is.
    var size: TerminalSize { TerminalSize(of: console.output) }

    /// Takes the terminal.
    ///
    /// - Throws: ``ArgumentError`` when it cannot be had.
    func open() throws {
        dispatchPrecondition(condition: .onQueue(queue))
        guard tcgetattr(console.input, &modes) == 0 else {
            throw ArgumentError("The terminal can not be read: \(String(cString: strerror(errno))).")
        }
        signals = SignalWatch([SIGWINCH, SIGTSTP, SIGCONT], on: queue) { [weak self] in self?.received($0) }
        enter()
        let reader = DispatchSource.makeReadSource(fileDescriptor: console.input, queue: queue)
        reader.setEventHandler { [weak self] in self?.read() }
        reader.resume()
        self.reader = reader
    }

    /// Shows a frame, or the last of several when the terminal is slow.
    func show(_ frame: Frame) {
        dispatchPrecondition(condition: .onQueue(queue))
        guard phase == .open else { return }
        if isWriting {
            waitingFrame = frame
            return
        }
        write(painter.paint(frame))
    }

    /// Draws all of the next frame anew: something else may have written to the terminal.
    func forget() { painter.forget() }

    /// Gives the terminal back and stops the program, as Ctrl-Z does for others; it continues when the shell lets it. Does
    /// nothing where there is no shell: the leader of a session is in nobody's job control.
    func suspend() {
        dispatchPrecondition(condition: .onQueue(queue))
        guard phase == .open, getsid(0) != getpid() else { return }
        phase = .suspended
        // Whoever lets it continue may be faster than the terminal.
        leave { [self] in if phase == .suspended { kill(getpid(), SIGSTOP) } }
    }

    /// Gives the terminal back for good.
    ///
    /// - Parameter done: Called once, on the queue.
    func close(_ done: @escaping @Sendable () -> Void) {
        dispatchPrecondition(condition: .onQueue(queue))
        guard phase == .open || phase == .suspended else { return queue.async(execute: done) }
        phase = .closing
        reader?.cancel()
        signals = nil
        leave(done)
    }

    // MARK: The terminal

    private func enter() {
        phase = .open
        TerminalRescue.prepare(input: console.input, output: console.output, modes: modes)
        var raw = modes
        cfmakeraw(&raw)
        tcsetattr(console.input, TCSANOW, &raw)
        painter.forget()
        write(Array(FramePainter.opening.utf8))
    }

    /// Sets the modes back, at once, and the screen behind what is being written.
    private func leave(_ done: @escaping @Sendable () -> Void) {
        waitingFrame = nil
        restoreModes()
        let end = Once(done)
        output.async { [self] in
            console.write(FramePainter.closing)
            console.flush()
            queue.async { [self] in
                if phase != .open { TerminalRescue.dismiss() }
                end.call()
            }
        }
        queue.asyncAfter(deadline: .now() + Self.closingTime) { end.call() }
    }

    private func restoreModes() {
        // A program in the background leaves them to whoever is in front.
        let front = tcgetpgrp(console.input)
        if front < 0 || front == getpgrp() { tcsetattr(console.input, TCSANOW, &modes) }
    }

    private func write(_ bytes: [UInt8]) {
        if bytes.isEmpty { return }
        isWriting = true
        output.async { [self] in
            console.write(bytes)
            console.flush()
            queue.async { self.wrote() }
        }
    }

    private func wrote() {
        isWriting = false
        if console.isOutputClosed, phase == .open { return happened(.hungUp) }
        if let frame = waitingFrame.take() { show(frame) }
    }

    // MARK: What happens

    private func received(_ signal: Int32) {
        switch (signal, phase) {
        case (SIGTSTP, .open): suspend()
        case (SIGCONT, .open), (SIGCONT, .suspended):
            enter()
            happened(.resized(size))
        case (SIGWINCH, .open): happened(.resized(size))
        default: break
        }
    }

    private func read() {
        var bytes = [UInt8](repeating: 0, count: Self.chunk)
        let count = Glibc.read(console.input, &bytes, bytes.count)
        guard count > 0 else {
            if count < 0, errno == EINTR || errno == EAGAIN { return }
            reader?.cancel()
            return happened(.hungUp)
        }
        readCount += 1
        tell(decoder.decode(bytes.prefix(count)))
        guard let limit = decoder.silenceLimit else { return }
        queue.asyncAfter(deadline: .now() + limit.seconds) { [weak self, readCount] in
            guard let self, self.readCount == readCount else { return }
            tell(decoder.silence())
        }
    }

    private func tell(_ keys: [Key]) { if !keys.isEmpty { happened(.keys(keys)) } }

    /// Calls a closure the first time.
    private final class Once: Sendable {
        private let body: Mutex<(@Sendable () -> Void)?>

        init(_ body: @escaping @Sendable () -> Void) { self.body = Mutex(body) }

        func call() { body.withLock { $0.take() }?() }
    }
}
