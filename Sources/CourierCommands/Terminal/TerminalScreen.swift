import CommandArguments
import Dispatch
import Synchronization

#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#elseif canImport(Darwin)
    import Darwin
#endif

/// A full-screen view on the terminal, and the keys that the user types there.
///
/// ```swift
/// let screen = TerminalScreen(console, on: queue) { happened in … }
/// try screen.open()
/// screen.show(frame)
/// screen.close { … }
/// ```
///
/// The terminal is restored by ``close(_:)``, while the program is suspended, and when the program crashes. The caller
/// must handle the signals that end the program. While a frame is being written to a slow terminal, only the newest
/// frame waits. Older waiting frames are skipped.
///
/// Safe to share: all mutable state is used only on the queue.
final class TerminalScreen: @unchecked Sendable {
    enum Event: Sendable {
        case keys([Key])
        case resized(TerminalSize)
        /// The terminal was closed. No further event follows.
        case hungUp
    }

    private enum Phase { case closed, open, suspended, closing }

    /// The maximum number of bytes that one read returns.
    private static let chunk = 4_096
    /// The maximum time that a blocked terminal can delay closing.
    private static let closingTime = DispatchTimeInterval.seconds(2)

    private let console: Console
    private let queue: DispatchQueue
    private let output = DispatchQueue(label: "courier.terminal")
    private let happened: @Sendable (Event) -> Void

    // MARK: State, used only on the queue

    private var phase = Phase.closed
    private var painter: FramePainter
    private var isWriting = false
    /// The newest frame that waits until the current write is complete.
    private var waitingFrame: Frame?
    /// The terminal modes before ``open()``.
    private var modes = termios()
    private var decoder = KeyDecoder()
    /// The number of reads. A timer compares it with an earlier number, to detect whether bytes arrived in the
    /// meantime.
    private var readCount = 0
    private var reader: (any DispatchSourceRead)?
    private var signals: SignalWatch?

    /// Creates a screen. It is not open yet.
    ///
    /// - Parameters:
    ///   - console: The console whose input and output are the terminal.
    ///   - queue: The queue on which all methods must be called.
    ///   - happened: Called on the queue with each event.
    init(_ console: Console, on queue: DispatchQueue, happened: @escaping @Sendable (Event) -> Void) {
        self.console = console
        self.queue = queue
        self.happened = happened
        painter = FramePainter(hasColours: console.hasColours)
    }

    /// True if input and output are a terminal that can show a full screen.
    static func isPossible(on console: Console) -> Bool {
        console.isInputTerminal && console.isOutputTerminal
            && !["", "dumb"].contains(console.environment["TERM", default: ""])
    }

    /// The current size of the terminal.
    var size: TerminalSize { TerminalSize(of: console.output) }

    /// Opens the screen: saves the terminal modes, and starts to read keys.
    ///
    /// - Throws: ``ArgumentError`` if the terminal modes cannot be read.
    func open() throws {
        dispatchPrecondition(condition: .onQueue(queue))
        guard tcgetattr(console.input, &modes) == 0 else {
            throw ArgumentError("The terminal cannot be read: \(SystemError.last.text).")
        }
        let watched = [SystemSignal.windowChange, SystemSignal.terminalStop, SystemSignal.continuation]
        signals = SignalWatch(watched, on: queue) { [weak self] in self?.received($0) }
        enter()
        // The terminal's size may have changed before the signals were watched, so the size is checked once now.
        queue.async { [weak self] in self?.received(SystemSignal.windowChange) }
        let reader = DispatchSource.makeReadSource(fileDescriptor: console.input, queue: queue)
        reader.setEventHandler { [weak self] in self?.read() }
        reader.resume()
        self.reader = reader
    }

    /// Shows a frame. While an earlier frame is being written, only the newest frame waits.
    func show(_ frame: Frame) {
        dispatchPrecondition(condition: .onQueue(queue))
        guard phase == .open else { return }
        if isWriting {
            waitingFrame = frame
            return
        }
        write(painter.paint(frame))
    }

    /// Makes the next frame be drawn completely, because another program may have written to the terminal.
    func forget() { painter.forget() }

    /// Restores the terminal and stops the program, as Ctrl-Z does in other programs, until the shell continues it.
    /// Does nothing if the process is a session leader, because no shell could continue it.
    func suspend() {
        dispatchPrecondition(condition: .onQueue(queue))
        guard phase == .open, !OwnProcess.isSessionLeader else { return }
        phase = .suspended
        // If another process continued the program before the terminal was restored, the program is not stopped.
        leave { [self] in if phase == .suspended { OwnProcess.stop() } }
    }

    /// Restores the terminal permanently.
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

    /// Restores the terminal modes now, and closes the screen after the current write.
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
        // A background process must not change the modes, because the foreground process uses the terminal.
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

    // MARK: Signals and input

    private func received(_ signal: Int32) {
        switch (signal, phase) {
        case (SystemSignal.terminalStop, .open): suspend()
        case (SystemSignal.continuation, .open), (SystemSignal.continuation, .suspended):
            enter()
            happened(.resized(size))
        case (SystemSignal.windowChange, .open): happened(.resized(size))
        default: break
        }
    }

    private func read() {
        var bytes = [UInt8](repeating: 0, count: Self.chunk)
        var count = 0
        do throws(SystemError) {
            count = try FileDescriptor.readBytesOnce(console.input, into: &bytes)
        } catch {
            if error == .interrupted || error == .notReady { return }
        }
        guard count > 0 else {
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

    /// Calls a closure at most once.
    private final class Once: Sendable {
        private let body: Mutex<(@Sendable () -> Void)?>

        init(_ body: @escaping @Sendable () -> Void) { self.body = Mutex(body) }

        func call() { body.withLock { $0.take() }?() }
    }
}
