import CommandArguments
import CourierCore
import CourierMQTT
import Dispatch
import Foundation

/// One run of `courier rr`. It subscribes to the response topic, sends the request, prints the first response and ends.
///
/// Safe to share: mutable state is used only on the connection's queue.
final class RequestRun: @unchecked Sendable {
    private enum Phase: Equatable { case connecting, subscribing, requested, closing }

    private let settings: RequestArguments
    private let topic: String
    private let responseTopic: String
    private let payload: [UInt8]
    private let schema: ProtobufSchema?
    private let console: Console
    private let printer: MessagePrinter
    private let ending = Ending()
    private var connection: CommandConnection?
    private var signals: SignalWatch?
    private var reading: AnyCancellable?

    // MARK: State, used only on the queue

    private var phase = Phase.connecting
    private var requestedAt = ContinuousClock.now

    init(
        _ settings: RequestArguments, _ topic: String, _ responseTopic: String, _ payload: [UInt8],
        _ schema: ProtobufSchema?, _ console: Console
    ) {
        self.settings = settings
        self.topic = topic
        self.responseTopic = responseTopic
        self.payload = payload
        self.schema = schema
        self.console = console
        printer = settings.output.printer(console)
    }

    /// Sends the request, prints the response, and returns the exit code.
    ///
    /// - Throws: An error if the command line is invalid, or the message store cannot be opened.
    func run() throws -> Int32 {
        try start()
        return ending.wait()
    }

    private func start() throws {
        var told = CommandConnection.ClientCallbacks()
        told.event = { [weak self] in self?.happened($0) }
        let connection = try CommandConnection(settings.connection, console, told: told)
        self.connection = connection
        connection.queue.sync {
            signals = ending.watch(SystemSignal.endings, on: connection.queue) { [weak self] in self?.interrupted($0) }
        }
        reading = connection.client.messagePublisher().sink { [weak self] in self?.received($0) }
        connection.client.subscribe([(responseTopic, settings.connection.level)])
        connection.client.connect()
        if let timeout = settings.timeout {
            connection.queue.asyncAfter(deadline: .now() + .seconds(timeout)) { [weak self] in self?.timeIsOver() }
        }
    }

    private func happened(_ event: CourierEventType) {
        switch event {
        case .connectionSuccess: if phase == .connecting { phase = .subscribing }
        case .subscribeSuccess: if phase == .subscribing || phase == .connecting { sendRequest() }
        case .subscribeFailure(_, _, let error):
            // The error of a lost connection is ignored here, because an event of the client reports the lost
            // connection.
            guard phase != .closing, (error as? CourierError)?.code != .connectionLost else { return }
            console.tell((error as? CourierError)?.message ?? "The subscription failed.")
            close(ExitCode.success)
        case .connectionFailure(_, let error): failed(error, isLost: false)
        case .connectionLost(_, let error, _, _): failed(error, isLost: true)
        default: break
        }
    }

    private func failed(_ error: (any Error)?, isLost: Bool) {
        guard phase != .closing else { return }
        let problem: ConnectionProblem
        if let refusal = connection?.watch.takeRefusal() {
            problem = ConnectionProblem(refusal)
        } else {
            let error =
                (error as? CourierError) ?? CourierError(.connectionFailed, "The connection failed.", cause: error)
            problem = isLost ? ConnectionProblem(lost: error) : ConnectionProblem(unopened: error)
        }
        problem.tell(on: console)
        close(problem.exitCode)
    }

    private func interrupted(_ exitCode: Int32) {
        if phase == .closing || phase == .connecting { return ending.end(exitCode) }
        close(exitCode)
    }

    private func timeIsOver() {
        guard phase != .closing else { return }
        console.tell("Timed out")
        close(ExitCode.timedOut)
    }

    private func sendRequest() {
        phase = .requested
        var properties = settings.connection.properties.publish
        if settings.connection.version == .v5 { properties.responseTopic = responseTopic }
        requestedAt = .now
        do {
            try connection?.client.publish(
                bytes: payload, to: topic, qos: settings.connection.level, retain: false, properties: properties
            ) { [weak self] result in
                // After the response, the client ends. If the broker has not acknowledged the request yet, publishing
                // the request fails then. This failure is not reported, because the response has arrived.
                guard case .failure(let error) = result, let self, phase != .closing else { return }
                console.tell("Error: \(error.message)")
                close(ExitCode.failure)
            }
        } catch {
            console.tell("Error: \((error as? CourierError)?.message ?? "\(error)")")
            close(ExitCode.failure)
        }
    }

    private func received(_ message: Message) {
        if phase == .closing || message.isRetained && settings.output.ignoresRetained { return }
        let time = requestedAt.duration(to: .now)
        let wasRequested = phase == .requested
        var shown = PrintedMessage(message)
        if let schema {
            do {
                shown.payload = Array(try schema.json(shown.payload).utf8)
            } catch {
                console.tell(
                    "Error: The message on topic \(message.topic) does not match the message type: "
                        + "\((error as? CourierError)?.message ?? "\(error)")")
                return close(ExitCode.failure)
            }
        }
        let printed = printer.print(shown)
        console.write(printed.bytes)
        for complaint in printed.complaints { console.tell(complaint) }
        if settings.measuresLatency, wasRequested { console.write("Latency: \(Self.text(of: time))\n") }
        close(ExitCode.success)
    }

    /// Formats a duration as mosquitto_rr does: in seconds without a unit, or with the unit `ms`, `µs` or `ns`.
    static func text(of time: Duration) -> String {
        let (seconds, attoseconds) = time.components
        let nanoseconds = Int(attoseconds / 1_000_000_000)
        if seconds > 0 { return "\(seconds).\(WallTime.padded(nanoseconds, to: 9))" }
        if nanoseconds < 1_000 { return "\(nanoseconds)ns" }
        if nanoseconds < 1_000_000 { return String(format: "%fµs", Double(nanoseconds) / 1e3) }
        return String(format: "%fms", Double(nanoseconds) / 1e6)
    }

    private func close(_ exitCode: Int32) {
        guard phase != .closing, let connection else { return }
        phase = .closing
        console.flush()
        connection.close { [ending] _ in ending.end(exitCode) }
    }
}
