import CommandArguments
import CourierCore
import CourierMQTT
import Dispatch
import Foundation

/// One run of `courier bench`. Publishers send messages, and subscribers receive them and measure their latency.
///
/// `BenchRun+Messages.swift` sends and receives the messages.
///
/// Safe to share: mutable state is used only on the delivery queue of all clients, `queue`.
final class BenchRun: @unchecked Sendable {
    /// The state of the run. It only changes to a state that is listed later.
    enum Phase: Hashable, Sendable {
        case connecting
        /// Messages are sent, or the connections are kept open.
        case running
        /// No further messages are sent, but sent messages have not arrived yet.
        case draining
        case closing
    }

    /// The maximum time from the first signal to the end of the process.
    private static let signalPatience = Duration.seconds(30)
    /// The maximum time for closing the connections.
    private static let closingLimit = Duration.seconds(10)

    let plan: LoadPlan
    let settings: BenchArguments
    let console: Console
    let payload: BenchPayload
    let pacer: SendPacer
    let queue = DispatchQueue(label: "courier.bench")
    private let ending = Ending()

    /// True if a line on the error terminal shows the progress.
    let hasLiveLine: Bool

    // MARK: State, used only on the queue

    var phase = Phase.connecting
    private(set) var pool: ClientPool?
    var progress: LoadProgress
    var histogram = LatencyHistogram()
    var timeline = RateTimeline()
    var liveLine = LiveLine()
    /// The time of the first sent message. `lastArrival` is the time when a message last reached the measured event,
    /// such as its arrival.
    var begunAt = BenchClock.now
    var lastArrival = BenchClock.now
    /// The last time when a message reached the measured event, such as its arrival, or was acknowledged.
    var lastSign = BenchClock.now
    /// The connected publishers whose queues are not full. They send in turn. A publisher whose connection was lost is
    /// removed at its turn.
    var publishers: [BenchClient] = []
    var turn = 0
    /// True if a block that calls `send()` is already in the queue. Until this block runs, other calls of `send()` have
    /// no effect.
    var isSendPlanned = false
    /// The tasks that wait for room in the full queue of a publisher, by the index of the publisher.
    var roomWaits: [Int: Task<Void, Never>] = [:]
    /// True if a subscriber was lost. The broker then delivers fewer copies of each message.
    var hasFewerSubscribers = false
    /// The first problem that concerns a message; `nil` if there is none.
    var messageProblem: ClientProblem?
    private var timers: [any DispatchSourceTimer] = []
    private var signals: SignalWatch?

    init(_ settings: BenchArguments, _ console: Console) throws {
        self.settings = settings
        self.console = console
        hasLiveLine = console.isErrorTerminal
        plan = try LoadPlan(settings)
        payload = BenchPayload(settings.payload, size: settings.size)
        pacer = SendPacer(rate: settings.rate, count: settings.messageLimit)
        let goal: LoadProgress.Goal =
            settings.subscribers > 0 ? .arrival : settings.connection.qos > 0 ? .acknowledgement : .sending
        progress = LoadProgress(
            goal, isAcknowledged: settings.connection.qos > 0, window: settings.window,
            copies: plan.copies(for: plan.filters.indices))
        var callbacks = ClientPool.Callbacks()
        callbacks.received = { [weak self] in self?.received($0) }
        callbacks.ended = { [weak self] in self?.ended($0, $1) }
        callbacks.settled = { [weak self] in self?.settled() }
        pool = try ClientPool(settings, plan, on: queue, callbacks)
    }

    /// Runs the benchmark to its end, and returns the exit code.
    func run() -> Int32 {
        queue.async { [self] in begin() }
        return ending.wait()
    }

    private func begin() {
        signals = ending.watch(SystemSignal.endings, on: queue, patience: Self.signalPatience) { [weak self] code in
            self?.interrupted(code)
        }
        if hasLiveLine || settings.publishers > 0 { every(.seconds(1)) { $0.secondPassed() } }
        pool?.open()
    }

    // MARK: Connections

    /// The indexes of the subscribers that are subscribed.
    var readySubscribers: [Int] { pool?.ready(.subscriber).map(\.index) ?? [] }

    /// Starts the measurement. Called when each client is connected or has failed.
    private func settled() {
        guard phase == .connecting else { return }
        let subscribers = readySubscribers
        publishers = pool?.ready(.publisher) ?? []
        guard publishers.isEmpty == (settings.publishers == 0), subscribers.isEmpty == (settings.subscribers == 0)
        else {
            return finish(ExitCode.success)  // The first problem of a client replaces this exit code.
        }
        phase = .running
        if subscribers.count < settings.subscribers {
            progress.change(copies: plan.copies(for: subscribers))
        }
        if publishers.isEmpty {
            guard settings.duration != nil else { return finish(ExitCode.success) }
        }
        begunAt = BenchClock.now
        (lastArrival, lastSign) = (begunAt, begunAt)
        if let duration = settings.duration {
            queue.asyncAfter(deadline: .now() + duration.seconds) { [weak self] in self?.timeEnded() }
        }
        if !publishers.isEmpty { beginSending() }
    }

    private func timeEnded() {
        guard phase == .running else { return }
        if settings.publishers == 0 { finish(ExitCode.success) } else { stopSending() }
    }

    private func ended(_ client: BenchClient, _ problem: ClientProblem) {
        guard phase != .closing else { return }
        if settings.endsAtFirstProblem {
            problem.tell(on: console)
            return close(problem.exitCode)
        }
        guard phase != .connecting else { return }
        switch client.role {
        case .publisher:
            progress.lost(publisher: client.index)
            roomWaits[client.index]?.cancel()
            if pool?.readyCount(.publisher) == 0 { stopSending() }
        case .subscriber:
            hasFewerSubscribers = true
            if pool?.readyCount(.subscriber) == 0 { finish(problem.exitCode) }
        }
    }

    private func interrupted(_ code: Int32) {
        if phase == .running || phase == .draining || !settings.endsAtFirstProblem {
            finish(code, isInterrupted: true)
        } else {
            close(code)
        }
    }

    /// Calls `body` on the queue at each interval until the run ends.
    func every(_ interval: DispatchTimeInterval, _ body: @escaping @Sendable (BenchRun) -> Void) {
        let timer = DispatchSource.makeTimerSource(queue: queue)
        timer.schedule(deadline: .now() + interval, repeating: interval)
        timer.setEventHandler { [weak self] in if let self { body(self) } }
        timer.resume()
        timers.append(timer)
    }

    private func secondPassed() {
        guard phase != .closing else { return }
        if phase != .connecting, settings.publishers > 0, !continuesAfterSecond() { return }
        guard hasLiveLine, let figures = pool?.figures else { return }
        let isLoaded = phase != .connecting && settings.publishers > 0
        let line = isLoaded ? liveLine.next(figures, progress) : LiveLine.text(figures)
        console.draw(String(line.prefix(console.errorColumns - 1)))
    }

    // MARK: End of the run

    /// Prints the report, writes the report files and closes the connections.
    ///
    /// - Parameters:
    ///   - code: The exit code if there was no problem.
    ///   - isInterrupted: Whether a signal ended the run.
    func finish(_ code: Int32, isInterrupted: Bool = false) {
        guard phase != .closing else { return close(code) }
        console.erase()
        let report = report(isInterrupted: isInterrupted)
        console.write(report.lines.map { $0 + "\n" }.joined())
        var code = code
        if let line = report.connections.problemLine { console.tell(line) }
        if let messageProblem {
            console.tell("Error: \(progress.refusedCount) messages failed. The first problem: \(messageProblem.text)")
        }
        if code == ExitCode.success, let problem = report.connections.firstProblem ?? messageProblem {
            code = problem.exitCode
        }
        for (index, file) in settings.reports.enumerated() {
            do throws(ArgumentError) {
                try file.write(text(of: report, as: file.format))
                console.write("\(index == 0 ? "\n" : "")The report is in \(file.path).\n")
            } catch {
                console.tell("Error: \(error.message)")
                code = ExitCode.failure
            }
        }
        close(code)
    }

    private func report(isInterrupted: Bool) -> BenchReport {
        let figures = pool?.figures ?? ConnectionFigures()
        var report: BenchReport
        let hasLoad = settings.publishers > 0 && phase != .connecting
        if hasLoad {
            report = BenchReport(
                histogram: histogram, timeline: timeline, duration: BenchClock.elapsed(since: begunAt),
                size: settings.size)
            report.subject = BenchReport.Subject(progress.goal)
            report.messages = BenchReport.MessageCounts(progress)
            let end = progress.goal == .sending ? lastSign : lastArrival
            if !isInterrupted { report.lastArrival = .nanoseconds(Int64(end - begunAt)) }
        } else {
            report = BenchReport(
                histogram: figures.times, timeline: figures.timeline, duration: figures.openingTime, size: settings.size
            )
            report.subject = .connection
        }
        report.connections = figures
        report.showsConnections = settings.publishers != 1 || settings.subscribers != 1
        return report
    }

    private func text(of report: BenchReport, as format: ReportFile.Format) -> String {
        switch format {
        case .svg: BenchPicture(report, subtitle: settings.subtitle(at: .now)).text
        case .json: report.json(settings, plan, date: .now)
        }
    }

    /// Closes the connections and ends the run. The second call ends the run at once.
    func close(_ code: Int32) {
        guard phase != .closing else { return ending.end(code) }
        phase = .closing
        for timer in timers { timer.cancel() }
        console.flush()
        ending.end(code, after: Self.closingLimit)
        pool?.close { [ending] in ending.end(code) }
    }
}
