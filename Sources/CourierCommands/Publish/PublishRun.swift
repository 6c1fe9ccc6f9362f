import CommandArguments
import CourierCore
import CourierMQTT
import CourierTransport
import Dispatch
import Foundation
import Synchronization

/// One run of `courier pub`. It connects, publishes its messages, and ends when they are acknowledged.
///
/// Safe to share: mutable state is used only on the connection's queue, which each method checks. ``LineWindow`` holds
/// the state that the queue shares with the reading thread.
final class PublishRun: @unchecked Sendable {
    private enum Phase: Equatable {
        case connecting
        case sending
        /// No more messages are sent. The run ends when all messages are acknowledged, or after
        /// ``Ending/drainTimeout``.
        case draining(exitCode: Int32)
        case closing
    }

    /// The reason why the client does not accept a message at the moment.
    private enum Obstacle {
        case noRoom
        /// There is no connection, and messages of QoS 0 are not stored for the next connection.
        case noConnection

        init?(_ error: CourierError) {
            switch error.code {
            case .queueFull: self = .noRoom
            case .connectionLost: self = .noConnection
            default: return nil
            }
        }
    }

    private let settings: PublishArguments
    private let topic: String
    private let payload: Payload
    private let encoder: PayloadEncoder
    private let console: Console
    private let ending = Ending()
    private let window = LineWindow()
    private var connection: CommandConnection?
    private var signals: SignalWatch?
    private var progress: ProgressLine?
    private var stop: ClientStop?

    // MARK: State, used only on the queue

    private var phase = Phase.connecting
    private var isConnected = false
    /// The closure to call when the next connection opens.
    private var whenConnected: (@Sendable () -> Void)?
    private var hasBegun = false
    private var sentCount = 0
    private var answeredCount = 0
    private var hasReadAll = false
    /// The exit code if the run ends because all messages are acknowledged or have failed.
    private var exitCode = ExitCode.success
    private var hasToldOfWaiting = false
    /// The error of a lost connection whose event arrived when the run was already closing; otherwise `nil`.
    private var lossBehindEnd: CourierError?

    init(
        _ settings: PublishArguments, _ topic: String, _ payload: Payload, _ encoder: PayloadEncoder,
        _ console: Console
    ) throws {
        self.settings = settings
        self.topic = topic
        self.payload = payload == .missing || payload == .lines ? payload : try Self.encoded(payload, encoder)
        self.encoder = encoder
        self.console = console
    }

    private static func encoded(_ payload: Payload, _ encoder: PayloadEncoder) throws -> Payload {
        guard case .bytes(let bytes) = payload else { return payload }
        return .bytes(try encoder.encode(bytes))
    }

    /// Sends all messages, and returns the exit code.
    ///
    /// - Throws: An error if the command line is invalid, or the message store cannot be opened.
    func run() throws -> Int32 {
        try start()
        return ending.wait()
    }

    private func start() throws {
        var told = CommandConnection.ClientCallbacks()
        told.event = { [weak self] in self?.happened($0) }
        told.refusedPublish = { [weak self] in self?.refused($0) }
        let connection = try CommandConnection(settings.connection, console, told: told)
        self.connection = connection
        stop = ClientStop(connection) { [weak self] in self?.stopped($0) }
        connection.queue.sync {
            // After ``Ending/drainTimeout``, the run warns about unacknowledged messages. `patience` is longer, so that
            // the warning is printed before the command ends.
            let patience = Ending.drainTimeout + .seconds(1)
            signals = ending.watch(SystemSignal.endings, on: connection.queue, patience: patience) { [weak self] in
                self?.interrupted($0)
            }
            // If a person types the lines on a terminal, no progress is shown, because the progress line would disturb
            // the typing.
            if payload == .lines, console.isErrorTerminal, !console.isInputTerminal, !settings.connection.isQuiet {
                progress = ProgressLine(console, size: FileStatus.unreadSize(of: console.input), on: connection.queue)
            }
        }
        connection.client.connect()
        // With a message store, messages can be stored before the connection is open. So the run begins at once.
        if storePath != nil { connection.queue.async { [self] in begin() } }
    }

    /// The path of the message store; `nil` at QoS 0, because the store keeps no messages of QoS 0.
    private var storePath: String? { settings.connection.level == .zero ? nil : settings.connection.storePath }

    // MARK: Client events

    private func happened(_ event: CourierEventType) {
        switch event {
        case .connectionSuccess:
            hasToldOfWaiting = false
            isConnected = true
            stop?.connected()
            if phase == .connecting { phase = .sending }
            begin()
            whenConnected.take()?()
        case .connectionFailure(_, let error): failed(error, isLost: false)
        case .connectionLost(_, let error, _, _): failed(error, isLost: true)
        default: break
        }
    }

    private func refused(_ message: ConnectionWatch.RefusedPublish) {
        console.tell(
            "Warning: Publish \(message.packetID) failed: \(ReasonCode(rawValue: message.code).name).")
        if let reason = message.reason { console.tell(reason) }
    }

    /// Handles a connection attempt that failed, or a connection that was lost.
    private func failed(_ error: (any Error)?, isLost: Bool) {
        isConnected = false
        let error =
            (error as? CourierError) ?? CourierError(.connectionFailed, "The connection failed.", cause: error)
        if isLost, phase == .closing { lossBehindEnd = error }
        endDrainingIfStored()
        guard phase == .connecting || phase == .sending else { return }
        if let refusal = connection?.watch.takeRefusal() {
            let problem = ConnectionProblem(refusal)
            problem.tell(on: console)
            console.tell("Error: The connection was refused.")
            return close(problem.exitCode)
        }
        let problem = isLost ? ConnectionProblem(lost: error) : ConnectionProblem(unopened: error)
        // A further attempt is useful if messages are stored. It is also useful if more lines follow and the broker was
        // reachable before.
        let isWorthWaiting = storePath != nil || (payload == .lines && (isLost || hasBegun))
        // If only the TLS handshake was interrupted, the connection does not count as insecure, because the broker may
        // just be shutting down.
        let isInsecure =
            error.code == .secureConnectionFailed
            && (error.cause as? TransportError)?.code != .closedDuringHandshake
        guard isWorthWaiting, error.code != .invalidConfiguration, !isInsecure else {
            problem.tell(on: console)
            return close(problem.exitCode)
        }
        if error.isFinal {
            stop?.failed(problem)
            return
        }
        guard !hasToldOfWaiting else { return }
        hasToldOfWaiting = true
        console.tell(problem.line)
        let place = storePath.map { " Undelivered messages stay in \($0)." } ?? ""
        console.tell("Trying again until the broker is available. SIGINT ends the program.\(place)")
        if isLost, settings.connection.level == .zero {
            console.tell("Warning: The last messages may be lost. With -q 1, lost messages are sent again.")
        }
    }

    /// Ends the run when the client makes no further connection attempts.
    private func stopped(_ problem: ConnectionProblem) {
        guard phase == .connecting || phase == .sending else { return }
        problem.tell(on: console)
        if let storePath { console.tell("Undelivered messages stay in \(storePath).") }
        close(problem.exitCode)
    }

    /// Handles the first signal. No new messages are sent, and the run waits for acknowledgements.
    private func interrupted(_ code: Int32) {
        switch phase {
        case .connecting: close(code)
        case .sending:
            phase = .draining(exitCode: code)
            window.stop()
            endIfAnswered()
            endDrainingIfStored()
            connection?.queue.asyncAfter(deadline: .now() + Ending.drainTimeout.seconds) { [weak self] in
                self?.endDraining()
            }
        case .draining, .closing: break
        }
    }

    /// Ends the waiting for acknowledgements if there is no connection and messages are stored. The next run sends the
    /// stored messages.
    private func endDrainingIfStored() {
        if !isConnected, storePath != nil { endDraining() }
    }

    private func endDraining() {
        guard case .draining(let code) = phase else { return }
        console.tell(
            "Warning: \(underWayCount) messages were not acknowledged in time."
                + (storePath.map { " The messages stay in \($0)." } ?? ""))
        close(code)
    }

    // MARK: Sending

    private func begin() {
        guard !hasBegun else { return }
        hasBegun = true
        if payload == .lines {
            Thread.detachNewThread { [self] in readLines() }
        } else {
            sendNext()
        }
    }

    /// Sends the next copy of the message of `-m`, as often as `--repeat` says.
    private func sendNext() {
        guard phase == .sending || phase == .connecting, case .bytes(let bytes) = payload else { return }
        sentCount += 1
        guard let obstacle = send(bytes, { [weak self] in self?.answered() }) else { return }
        sentCount -= 1
        wait(for: obstacle) { [weak self] in self?.sendNext() }
    }

    private func answered() {
        answeredCount += 1
        if case .draining = phase { return endIfAnswered() }
        guard answeredCount < settings.repeatCount else { return close(exitCode) }
        if settings.repeatDelay == .zero { return sendNext() }
        connection?.queue.asyncAfter(deadline: .now() + settings.repeatDelay.seconds) { [weak self] in
            self?.sendNext()
        }
    }

    /// Sends one message. `told` is called on the queue when the message is acknowledged or has failed. May be called
    /// from the queue or the reading thread.
    ///
    /// - Returns: `nil` if the message was accepted or has failed. Otherwise the obstacle that must be gone before the
    ///   message is sent again; `told` is then not called.
    private func send(_ bytes: [UInt8], _ told: @escaping @Sendable () -> Void) -> Obstacle? {
        var properties = settings.connection.properties.publish
        if properties.contentType == nil, settings.connection.version == .v5 {
            properties.contentType = encoder.contentType
        }
        guard let connection else { return nil }
        do {
            try connection.client.publish(
                bytes: bytes, to: topic, qos: settings.connection.level, retain: settings.isRetained,
                properties: properties
            ) { [weak self] result in
                if case .failure(let error) = result { self?.notSent(error) }
                told()
            }
        } catch {
            let error = (error as? CourierError) ?? CourierError(.invalidMessage, "\(error)", cause: error)
            if let obstacle = Obstacle(error) { return obstacle }
            connection.queue.async { [weak self] in
                self?.notSent(error)
                told()
            }
        }
        return nil
    }

    /// Calls `retry` on the queue when the client may accept messages again. May be called from the queue or the
    /// reading thread.
    private func wait(for obstacle: Obstacle, _ retry: @escaping @Sendable () -> Void) {
        guard let connection else { return }
        switch obstacle {
        case .noRoom:
            Task {
                try? await connection.client.readyToPublish()
                connection.queue.async { retry() }
            }
        case .noConnection:
            // If a connection was opened in the meantime, `retry` is called at once.
            connection.queue.async { [self] in
                guard !isConnected else { return retry() }
                whenConnected = retry
            }
        }
    }

    /// Reports a message that will not arrive. Two errors are not reported here. ``refused(_:)`` reports a refusal by
    /// the broker, which does not change the exit code, as in mosquitto_pub. ``failed(_:isLost:)`` reports a lost
    /// connection.
    private func notSent(_ error: CourierError) {
        switch error.code {
        case .publishRefused, .notAuthorized, .clientDestroyed, .connectionLost: break
        default:
            console.tell("Error: \(error.message)")
            exitCode = ExitCode.failure
        }
    }

    /// Reads lines and sends each line. Runs on its own thread, which waits while too many lines are unacknowledged.
    private func readLines() {
        var lines = LineReader(console.input)
        while let line = lines.next(), window.enter() {
            let bytes: [UInt8]
            do {
                bytes = try encoder.encode(Array(line))
            } catch {
                window.skip()
                let error = (error as? CourierError) ?? CourierError(.encodingFailed, "\(error)", cause: error)
                connection?.queue.async { [weak self] in self?.notSent(error) }
                continue
            }
            guard sendLine(bytes, bytesRead: lines.bytesRead) else { break }
        }
        let problem = lines.problem
        connection?.queue.async { [self] in
            if let problem {
                console.tell("Error: The rest of the input cannot be read: \(problem.text).")
                exitCode = ExitCode.failure
            }
            hasReadAll = true
            endIfAnswered()
        }
    }

    /// Sends a line, with as many attempts as necessary; returns `false` if no more lines may be sent.
    private func sendLine(_ bytes: [UInt8], bytesRead: Int) -> Bool {
        while true {
            window.sent(bytesRead: bytesRead)
            let obstacle = send(bytes) { [weak self] in self?.lineAnswered() }
            guard let obstacle else { return true }
            wait(for: obstacle) { [window] in window.retry() }
            guard window.takeBack() else { return false }
        }
    }

    private func lineAnswered() {
        window.leave()
        progress?.update(window.counts)
        endIfAnswered()
    }

    /// The number of messages that were sent and are neither acknowledged nor failed.
    private var underWayCount: Int {
        guard payload == .lines else { return sentCount - answeredCount }
        let counts = window.counts
        return counts.sent - counts.answered
    }

    private func endIfAnswered() {
        guard underWayCount == 0 else { return }
        switch phase {
        case .draining(let code): close(code)
        case .connecting, .sending: if hasReadAll { close(exitCode) }
        case .closing: break
        }
    }

    private func close(_ exitCode: Int32) {
        guard phase != .closing, let connection else { return }
        phase = .closing
        window.stop()
        progress?.end(window.counts)
        connection.close { [self] result in ending.end(exitCode == ExitCode.success ? code(of: result) : exitCode) }
    }

    /// Returns the exit code of a run in which all messages were sent. At QoS 0 there are no acknowledgements. Only the
    /// result of closing the connection shows whether all bytes were written.
    private func code(of end: Result<Void, CourierError>) -> Int32 {
        guard settings.connection.level == .zero, case .failure(let failure) = end else { return ExitCode.success }
        // The error `sessionMissing` means that there was no connection to close. ``failed(_:isLost:)`` has then
        // already reported the loss, unless the event arrived while the run was closing.
        guard let error = failure.code == .sessionMissing ? lossBehindEnd : failure else { return ExitCode.success }
        let problem = ConnectionProblem(lost: error)
        problem.tell(on: console)
        return problem.exitCode
    }
}

extension Duration {
    /// The duration in seconds, for Dispatch.
    var seconds: Double {
        let (seconds, attoseconds) = components
        return Double(seconds) + Double(attoseconds) / 1e18
    }
}
