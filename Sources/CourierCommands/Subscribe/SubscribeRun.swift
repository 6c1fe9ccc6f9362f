import CommandArguments
import CourierCore
import CourierMQTT
import Dispatch

/// One run of `courier sub`. It connects, subscribes, and prints received messages until an option, a signal or an
/// error ends it.
///
/// Safe to share: mutable state is used only on the connection's queue.
final class SubscribeRun: @unchecked Sendable {
    private enum Phase: Equatable {
        case connecting
        case subscribing
        case reading
        /// No more messages are printed. The run waits until the broker has confirmed the removal of retained messages.
        case draining(exitCode: Int32)
        case closing
    }

    private let settings: SubscribeArguments
    private let schema: ProtobufSchema?
    private let console: Console
    private let printer: MessagePrinter
    private let ending = Ending()
    private var connection: CommandConnection?
    private var signals: SignalWatch?
    private var reading: AnyCancellable?
    /// Removes retained messages from the broker; `nil` without the option to remove them.
    private var removals: RetainedRemovals?

    // MARK: State, used only on the queue

    private var phase = Phase.connecting
    private var printedCount = 0
    private var rateCount = 0
    /// The exit code that replaces success if a retained message was not removed.
    private var removalCode = ExitCode.success
    private var isFlushDue = false
    /// The topic filters whose subscriptions the broker has neither granted nor refused yet.
    private var awaited: Set<String>
    private var granted: Set<String> = []
    /// The reasons of refused subscriptions. They are printed when no subscription is pending.
    private var refusals: [String] = []
    /// The exit code if the broker grants no subscription.
    private var refusalCode = ExitCode.success
    private var screen = WatchScreen()
    private var stop: ClientStop?

    init(_ settings: SubscribeArguments, _ schema: ProtobufSchema?, _ console: Console) {
        self.settings = settings
        self.schema = schema
        self.console = console
        printer = settings.output.printer(console)
        awaited = Set(settings.connection.topics)
    }

    /// Prints messages until the run ends, and returns the exit code.
    ///
    /// - Throws: An error if the command line is invalid, or the message store cannot be opened.
    func run() throws -> Int32 {
        try start()
        return ending.wait()
    }

    private func start() throws {
        var told = CommandConnection.ClientCallbacks()
        told.event = { [weak self] in self?.happened($0) }
        told.outputClosed = { [weak self] in self?.close(ExitCode.success) }
        let connection = try CommandConnection(settings.connection, console, told: told) { config in
            // If only a few messages are printed, their number is used as the receive maximum. Otherwise the client
            // would acknowledge further messages without printing them, and these messages would be lost.
            if let count = settings.messageCount, count < 20,
                settings.connection.properties.connect.receiveMaximum == nil
            {
                config.limits.receiveMaximum = UInt16(count)
            }
        }
        self.connection = connection
        stop = ClientStop(connection) { [weak self] in self?.stopped($0) }
        if settings.removesRetained {
            removals = RetainedRemovals(connection) { [weak self] in self?.removed($0) }
        }
        connection.queue.sync {
            // After ``Ending/drainTimeout``, the run warns about messages that are not removed. `patience` is longer,
            // so that the warning is printed before the command ends.
            let patience = Ending.drainTimeout + .seconds(1)
            signals = ending.watch(SystemSignal.endings, on: connection.queue, patience: patience) { [removals] _ in
                removals?.isAnyOpen == true ? ExitCode.failure : ExitCode.success
            } ask: { [weak self] _ in
                self?.interrupted()
            }
            if settings.isWatching, !settings.showsRate {
                console.write(screen.start(host: settings.connection.shownHost))
            }
        }
        reading = connection.client.messagePublisher().sink { [weak self] in self?.received($0) }
        connection.client.subscribe(settings.connection.topics.map { ($0, settings.connection.level) })
        for topic in settings.unwantedTopics { unsubscribe(topic, connection.client) }
        connection.client.connect()
        if let timeout = settings.timeout {
            connection.queue.asyncAfter(deadline: .now() + .seconds(timeout)) { [weak self] in self?.timeIsOver() }
            ending.end(ExitCode.timedOut, after: .seconds(timeout) + Ending.drainTimeout)
        }
        if settings.showsRate { showRate() }
    }

    /// Unsubscribes from a filter that an earlier run may have subscribed to.
    private func unsubscribe(_ topic: String, _ client: any CourierClient) {
        let request = UnsubscriptionRequest(
            topic: TopicTemplate(exactly: topic), userProperties: settings.connection.properties.unsubscribe)
        // The error is ignored here, because an event of the client reports it.
        Task { try? await client.unsubscribe(request) }
    }

    // MARK: Client events

    private func happened(_ event: CourierEventType) {
        switch event {
        case .connectionSuccess:
            stop?.connected()
            if phase == .connecting { phase = .subscribing }
        case .subscribeAttempt(let topics): awaited.formUnion(topics)
        case .subscribeSuccess(let topics, _):
            granted.formUnion(topics.map(\.topic))
            answered(topics.map(\.topic))
        case .subscribeFailure(let topics, _, let error): refused(topics.map(\.topic), error)
        case .messageReceiveFailure(_, let error as CourierError, _): console.tell("Warning: \(error.message)")
        case .connectionFailure(_, let error): failed(error, isLost: false)
        case .connectionLost(_, let error, _, _): failed(error, isLost: true)
        default: break
        }
    }

    /// Handles subscriptions that fail on this connection.
    private func refused(_ topics: [String], _ error: (any Error)?) {
        let error =
            (error as? CourierError) ?? CourierError(.subscriptionRefused, "The subscription failed.", cause: error)
        // After a lost connection, the client subscribes again on the next connection. So the subscription is not
        // refused yet.
        guard error.code != .connectionLost else { return }
        granted.subtract(topics)
        refusals.append(error.message)
        // The error message contains only the first topic, so the other topics get their own lines.
        refusals += topics.dropFirst().map { "The subscription to \($0.quoted()) failed for the same reason." }
        // Without a reason code, the broker has not refused the subscription. If a SUBSCRIBE is too large, the client
        // has not sent it. In both cases, the exit code is a failure.
        if error.reasonCode == nil || error.reasonCode == .packetTooLarge { refusalCode = ExitCode.failure }
        answered(topics)
    }

    /// Handles granted and refused subscriptions, on the first connection and on later connections.
    private func answered(_ topics: [String]) {
        awaited.subtract(topics)
        switch phase {
        case .connecting, .subscribing, .reading: break
        case .draining, .closing: return
        }
        guard awaited.isEmpty else { return }
        if granted.isEmpty {
            if refusalCode == ExitCode.success { console.tell("All subscription requests were denied.") }
            for refusal in refusals { console.tell("Error: \(refusal)") }
            return finish(refusalCode)
        }
        for refusal in refusals { console.tell("Warning: \(refusal)") }
        (refusals, refusalCode) = ([], ExitCode.success)
        guard phase != .reading else { return }
        phase = .reading
        if settings.endsWhenSubscribed { finish(ExitCode.success) }
    }

    private func failed(_ error: (any Error)?, isLost: Bool) {
        guard phase != .closing else { return }
        if let refusal = connection?.watch.takeRefusal() {
            let problem = ConnectionProblem(refusal)
            problem.tell(on: console)
            return close(problem.exitCode)
        }
        let error =
            (error as? CourierError) ?? CourierError(.connectionFailed, "The connection failed.", cause: error)
        let problem = isLost ? ConnectionProblem(lost: error) : ConnectionProblem(unopened: error)
        guard phase != .connecting || error.code == .connectionLost else {
            problem.tell(on: console)
            return close(problem.exitCode)
        }
        if error.isFinal {
            stop?.failed(problem)
        } else if isLost, console.isErrorTerminal {
            console.tell("\(problem.line) Connecting again.")
        }
    }

    /// Ends the run when the client makes no further connection attempts.
    private func stopped(_ problem: ConnectionProblem) {
        guard phase != .closing else { return }
        problem.tell(on: console)
        close(problem.exitCode)
    }

    private func interrupted() {
        switch phase {
        case .connecting: ending.end(ExitCode.notAccepted)
        case .subscribing, .reading:
            finish(ExitCode.success)
            connection?.queue.asyncAfter(deadline: .now() + Ending.drainTimeout.seconds) { [weak self] in
                self?.close(ExitCode.success)
            }
        case .draining(let code): close(code)
        case .closing: ending.end(ExitCode.success)
        }
    }

    private func timeIsOver() {
        if phase == .connecting { return ending.end(ExitCode.notAccepted) }
        guard phase != .closing else { return }
        console.tell("Timed out")
        close(ExitCode.timedOut)
    }

    // MARK: Messages

    private func received(_ message: Message) {
        rateCount += 1
        if settings.showsRate { return }
        switch phase {
        case .connecting, .subscribing, .reading: break
        case .draining, .closing: return
        }
        if settings.isRetainedOnly, !message.isRetained { return finish(ExitCode.success) }
        if message.isRetained, settings.output.ignoresRetained { return }
        if !settings.filteredOut.isEmpty, let name = try? TopicName(received: message.topic),
            settings.filteredOut.contains(where: { $0.matches(name) })
        {
            return
        }
        // With `--retain-as-published`, an empty message with the retain flag means that a retained message was
        // removed. Such a message needs no removal.
        if message.isRetained, !message.data.isEmpty { removals?.remove(message.topic) }
        if settings.chance == 10_000 || Int.random(in: 0..<10_000) < settings.chance { print(message) }
        guard let count = settings.messageCount else { return }
        printedCount += 1
        if printedCount == count { finish(ExitCode.success) }
    }

    private func print(_ message: Message) {
        var shown = PrintedMessage(message)
        if let schema {
            do {
                shown.payload = Array(try schema.json(shown.payload).utf8)
            } catch {
                let reason = (error as? CourierError)?.message ?? "\(error)"
                return console.tell(
                    "Error: The message on topic \(message.topic) does not match the message type: \(reason)")
            }
        }
        let printed = printer.print(shown)
        if settings.isWatching { console.write(screen.move(to: message.topic)) }
        console.write(printed.bytes)
        if settings.isWatching { console.write(screen.leave()) }
        for complaint in printed.complaints { console.tell(complaint) }
        flushSoon()
    }

    /// Flushes the output once after all messages that are already in the queue.
    private func flushSoon() {
        guard !isFlushDue else { return }
        isFlushDue = true
        connection?.queue.async { [self] in
            isFlushDue = false
            console.flush()
            // If the program that reads the output has closed the output, the run ends.
            if console.isOutputClosed { close(ExitCode.success) }
        }
    }

    /// Handles the end of a removal. If the broker refuses the removal, the exit code does not change, as in `pub`.
    private func removed(_ error: CourierError?) {
        guard phase != .closing else { return }
        if let error {
            let isRefused = error.code == .publishRefused || error.code == .notAuthorized
            console.tell("\(isRefused ? "Warning" : "Error"): \(error.message)")
            if !isRefused { removalCode = ExitCode.failure }
        }
        if case .draining(let code) = phase, removals?.isIdle == true { close(code) }
    }

    private func showRate() {
        connection?.queue.asyncAfter(deadline: .now() + .seconds(1)) { [weak self] in
            guard let self, phase != .closing else { return }
            console.write("\(rateCount) msgs/s\n")
            rateCount = 0
            console.flush()
            if console.isOutputClosed { return close(ExitCode.success) }
            showRate()
        }
    }

    // MARK: End of the run

    /// Stops printing. The run ends when every removal has succeeded or failed, or when no removal has ended for
    /// ``Ending/drainTimeout``.
    private func finish(_ exitCode: Int32) {
        guard let removals, !removals.isIdle else { return close(exitCode) }
        phase = .draining(exitCode: exitCode)
        awaitAnswers(behind: removals.answeredCount)
    }

    private func awaitAnswers(behind count: Int) {
        connection?.queue.asyncAfter(deadline: .now() + Ending.drainTimeout.seconds) { [weak self] in
            guard let self, case .draining(let code) = phase, let removals else { return }
            if removals.answeredCount == count { close(code) } else { awaitAnswers(behind: removals.answeredCount) }
        }
    }

    private func close(_ exitCode: Int32) {
        guard phase != .closing, let connection else { return }
        phase = .closing
        console.flush()
        if let count = removals?.stop(), count > 0 {
            console.tell("Warning: Retained messages were not removed: \(count).")
            removalCode = ExitCode.failure
        }
        let code = exitCode == ExitCode.success ? removalCode : exitCode
        connection.close { [ending] _ in ending.end(code) }
    }
}
