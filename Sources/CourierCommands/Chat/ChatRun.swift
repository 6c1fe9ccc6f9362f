import CommandArguments
import CourierCore
import Dispatch
import Foundation

/// One run of `courier chat`, on a full-screen terminal or line by line.
///
/// Safe to share: mutable state is used only on the link's queue. The link itself is set before the queue can use it.
/// ``LineWindow`` holds the state that the queue shares with the reading thread.
final class ChatRun: @unchecked Sendable {
    private enum Phase: Equatable {
        case running
        /// The chat is ending. `unsentCount` is the number of lines that the broker has not acknowledged.
        case closing(unsentCount: Int)
    }

    /// The maximum length of an input line in bytes. A longer line ends the reading. A shorter line that is too long
    /// for a message is reported and skipped.
    private static let lineLimit = LineReader.chunk

    private let settings: ChatArguments
    private let console: Console
    private let hasScreen: Bool
    private let ending = Ending()
    private let window = LineWindow()
    private var link: ChatLink?
    private var screen: TerminalScreen?
    private var signals: SignalWatch?

    // MARK: State, used only on the queue

    private var model: ChatModel
    private var phase = Phase.running
    private var isDrawingDue = false
    private var hasConnected = false
    private var isReading = false
    /// The exit code if the user or the end of the input ends the chat. It becomes a failure if a line or a room
    /// failed.
    private var exitCode = ExitCode.success

    init(_ settings: ChatArguments, _ console: Console) throws {
        guard let name = settings.name else { throw ArgumentError(ChatName.rule) }
        self.settings = settings
        self.console = console
        hasScreen = !settings.isPlain && TerminalScreen.isPossible(on: console)
        model = ChatModel(person: settings.connection.sentClientID, name: name)
    }

    /// Runs the chat until it ends, and returns the exit code.
    ///
    /// - Throws: An error if the command line is invalid, or the terminal cannot be used.
    func run() throws -> Int32 {
        let link = try ChatLink(settings, console) { [weak self] in
            self?.failed($0, isFinal: $1)
        } told: { [weak self] in
            self?.happened($0)
        }
        self.link = link
        try link.queue.sync {
            // Without a screen, this program does not handle SIGHUP. With `nohup`, it thus continues after the terminal
            // has closed.
            signals = ending.watch(SystemSignal.endings + (hasScreen ? [SystemSignal.hangUp] : []), on: link.queue) {
                [weak self] in
                self?.close($0)
            }
            if hasScreen { try open(on: link.queue) }
            link.start()
            for room in settings.rooms { happened(.line("/join \(room.text)")) }
        }
        return ending.wait()
    }

    private func open(on queue: DispatchQueue) throws {
        let screen = TerminalScreen(console, on: queue) { [weak self] in self?.terminalTold($0) }
        try screen.open()
        self.screen = screen
        happened(.resized(screen.size))
    }

    // MARK: Events

    private func terminalTold(_ event: TerminalScreen.Event) {
        switch event {
        case .keys(let keys): happened(.keys(keys))
        case .resized(let size): happened(.resized(size))
        case .hungUp: close(ExitCode.signal(SystemSignal.hangUp))
        }
    }

    private func happened(_ event: ChatModel.Event) {
        if case .closing(let count) = phase {
            if case .settled(_, nil) = event { phase = .closing(unsentCount: count - 1) }
            return
        }
        if case .connected = event { hasConnected = true }
        if case .settled(_, let failure) = event, !hasScreen {
            window.leave()
            if let failure {
                console.tell("Error: A line was not sent: \(failure)")
                exitCode = ExitCode.failure
            }
        }
        let actions = model.handle(event, now: .now())
        // The exit code shows to scripts that a line failed, or that a room could not be joined.
        if !hasScreen, event.isForRooms, actions.contains(where: \.isProblem) { exitCode = ExitCode.failure }
        for action in actions { perform(action) }
        if !hasScreen {
            if case .line = event, !actions.contains(where: \.isSending), isReading { window.skip() }
            if model.knowsPeople { readLines() }
        }
        drawSoon()
    }

    private func perform(_ action: ChatModel.Action) {
        switch action {
        case .join(let room): link?.join(room)
        case .leave(let room): link?.leave(room)
        case .send(let message, let room): link?.send(message, in: room)
        case .announce(let card): link?.announce(card)
        case .awaitEcho(let connection):
            link?.queue.asyncAfter(deadline: .now() + ChatModel.echoTime.seconds) { [weak self] in
                self?.happened(.echoIsLate(connection: connection))
            }
        case .tell(let entry, let room): if !hasScreen { tell(entry, room) }
        case .suspend: screen?.suspend()
        case .redraw: screen?.forget()
        case .end: close(exitCode)
        }
    }

    /// Draws the screen once after all events that are already in the queue.
    private func drawSoon() {
        guard hasScreen, !isDrawingDue else { return }
        isDrawingDue = true
        link?.queue.async { [self] in
            isDrawingDue = false
            if phase == .running { screen?.show(ChatView(model).frame) }
        }
    }

    // MARK: Output without a screen

    private func tell(_ entry: ChatEntry, _ room: ChatName?) {
        if entry.kind == .problem { return console.tell("Error: \(GlyphText(entry.text).string)") }
        console.write(entry.line(in: room) + "\n")
        console.flush()
        // If the program that reads the output has closed the output, the chat ends.
        if console.isOutputClosed { close(ExitCode.success) }
    }

    /// Handles a failed connection attempt or a lost connection. The run ends if the client makes no further attempts.
    /// Without a screen, the run also ends if the client was never connected.
    private func failed(_ problem: ConnectionProblem, isFinal: Bool) {
        guard isFinal || (!hasScreen && !hasConnected) else { return }
        close(problem.exitCode, saying: problem.lines)
    }

    /// Starts a thread that reads the input lines, unless it was already started. The thread waits while too many lines
    /// are unacknowledged.
    private func readLines() {
        guard !isReading else { return }
        isReading = true
        Thread.detachNewThread { [self] in
            var lines = LineReader(console.input, longest: Self.lineLimit)
            while let line = lines.next(), window.enter() {
                let text = String(decoding: line, as: UTF8.self)
                link?.queue.async { self.happened(.line(text.hasSuffix("\r") ? String(text.dropLast()) : text)) }
            }
            let problem = lines.problem
            link?.queue.async { self.readAll(problem) }
        }
    }

    private func readAll(_ problem: SystemError?) {
        if let problem, phase == .running {
            console.tell("Error: The rest of the input cannot be read: \(problem.text).")
            exitCode = ExitCode.failure
        }
        happened(.endOfInput)
    }

    // MARK: End of the run

    private func close(_ code: Int32, saying lines: [String] = []) {
        guard phase == .running, let link else { return }
        phase = .closing(unsentCount: model.pendingCount)
        window.stop()
        let leave: @Sendable () -> Void = { [self] in
            for line in lines { console.tell(line) }
            link.close { [self] in end(code) }
        }
        if let screen { screen.close(leave) } else { leave() }
    }

    private func end(_ code: Int32) {
        guard case .closing(let count) = phase, count > 0 else { return ending.end(code) }
        console.tell("Warning: \(count) lines were not sent.")
        ending.end(code == ExitCode.success ? ExitCode.failure : code)
    }
}

extension ChatModel.Event {
    /// True if a problem after this event must change the exit code: the event is a line of the user, or the broker
    /// refuses a room that the user wants to join.
    fileprivate var isForRooms: Bool {
        switch self {
        case .line, .refused: true
        default: false
        }
    }
}

extension ChatModel.Action {
    fileprivate var isProblem: Bool { if case .tell(let entry, _) = self { entry.kind == .problem } else { false } }
    fileprivate var isSending: Bool { if case .send = self { true } else { false } }
}
