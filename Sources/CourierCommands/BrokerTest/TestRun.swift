import CourierTransport
import MQTTCodec
import Synchronization

/// Runs all probes with each version of MQTT, one after the other.
///
/// The calling thread is blocked during network operations.
struct TestRun {
    /// The result of a probe, with its name.
    struct Result: Hashable, Sendable {
        let name: String
        let title: String
        let outcome: ProbeOutcome
        /// The exit code of the command if this is the first problem.
        var exitCode = ExitCode.protocolError
    }

    /// The results with one version of MQTT.
    struct VersionResults: Sendable {
        let version: ProtocolVersion
        var limits: AnnouncedLimits?
        var results: [Result] = []
        /// True if all probes of the version were made.
        var isComplete = false
    }

    /// A probe whose first part has run, and whose second part must wait.
    private struct Pending {
        let probe: Probe
        let context: ProbeContext
        let start: ContinuousClock.Instant
        let run: Probe.Run
    }

    /// The characters of the random part of topics and client ids.
    private static let alphabet = Array("abcdefghijklmnopqrstuvwxyz0123456789")

    private let events: LinkEvents
    private var plan: TestPlan
    private let versions: [ProtocolVersion]
    /// True if the user requests exactly one version, which the broker must then support.
    private let isOneVersion: Bool
    private let report: (TestRun.Result, ProtocolVersion) -> Void
    private var contextCount = 0
    private(set) var versionResults: [VersionResults] = []
    /// True if a signal ended the run.
    private(set) var isInterrupted = false

    /// Prepares the probes. ``LinkEvents/interrupt()`` of `events` ends the run. `report` is called with each result as
    /// soon as its probe has ended.
    init(
        _ arguments: TestArguments, _ events: LinkEvents, report: @escaping (TestRun.Result, ProtocolVersion) -> Void
    ) throws {
        self.events = events
        self.report = report
        versions = arguments.version.map { [$0] } ?? [.v5, .v311]
        isOneVersion = arguments.version != nil
        let address = BrokerAddress(arguments.connection)
        plan = TestPlan(
            address: address, tls: try address.tls.map { try TLSContext(client: $0) }, version: .v5,
            timeLimit: arguments.timeLimit, messageCount: arguments.messageCount,
            maximumPayload: arguments.maximumPayload,
            randomPart: String((0..<6).map { _ in Self.alphabet[Int.random(in: 0..<Self.alphabet.count)] }))
    }

    mutating func run() {
        for version in versions {
            versionResults.append(VersionResults(version: version))
            do throws(LinkFailure) {
                guard try run(version) else { return }
            } catch {
                isInterrupted = true
                return
            }
        }
    }

    /// The first problem of the run.
    var problem: Result? { versionResults.flatMap(\.results).first { $0.outcome.state == .problem } }

    /// True if all probes of all versions were made.
    var isComplete: Bool { versionResults.count == versions.count && versionResults.allSatisfy(\.isComplete) }

    // MARK: One version

    /// Runs the probes of a version. Returns false if the broker cannot be reached. Other versions are then not tried.
    ///
    /// - Throws: ``LinkFailure/interrupted`` only.
    private mutating func run(_ version: ProtocolVersion) throws(LinkFailure) -> Bool {
        plan.version = version
        do throws(LinkFailure) {
            let (outcome, limits) = try greet()
            note("connect", "connect", outcome)
            if let limits {
                plan.announced = limits
                versionResults[versionResults.count - 1].limits = limits
            }
        } catch {
            if error == .interrupted { throw error }
            return noteFailedConnection(error)
        }
        if versions == [.v311] { try readLimits() }
        var pending: [Pending] = []
        defer { events.shielded { for waiting in pending { _ = waiting.context.cleanUp() } } }
        // The probes that must wait begin first. The other probes run during this waiting time.
        for probe in Probe.all where probe.versions.contains(version) {
            if let waiting = try begin(probe) { pending.append(waiting) }
        }
        for probe in Probe.all where probe.versions.contains(version) {
            guard case .now(let run) = probe.work else { continue }
            let context = newContext()
            try finish(probe, context) { () throws(LinkFailure) in try run(context) }
        }
        while !pending.isEmpty {
            let waiting = pending[0]
            try events.pause(until: waiting.start)
            pending.removeFirst()
            waiting.context.restartTimeLimit()
            try finish(waiting.probe, waiting.context) { () throws(LinkFailure) in try waiting.run(waiting.context) }
        }
        versionResults[versionResults.count - 1].isComplete = true
        return true
    }

    /// Connects for the first time, and disconnects.
    private mutating func greet() throws(LinkFailure) -> (outcome: ProbeOutcome, limits: AnnouncedLimits?) {
        let context = newContext()
        defer { events.shielded { _ = context.cleanUp() } }
        return try Probe.greeting(context)
    }

    private mutating func newContext() -> ProbeContext {
        contextCount += 1
        return ProbeContext(plan, events, number: contextCount)
    }

    /// Reads the limits that the broker announces in MQTT 5. A broker cannot announce limits in MQTT 3.1.1, so these
    /// limits also explain which features are missing there.
    private mutating func readLimits() throws(LinkFailure) {
        let version = plan.version
        defer { plan.version = version }
        plan.version = .v5
        do throws(LinkFailure) {
            plan.announced = try greet().limits
        } catch {
            // Every other error is ignored, because the broker may support only MQTT 3.1.1.
            if error == .interrupted { throw error }
        }
    }

    /// Records a connection that failed. Returns true if another version may succeed.
    private mutating func noteFailedConnection(_ failure: LinkFailure) -> Bool {
        // Some brokers close the connection if they do not support the version. So a failure with MQTT 5 is only
        // recorded as a note here. If MQTT 3.1.1 fails too, that failure is reported as a problem.
        let reactions: [LinkFailure] = [.speaksOlderVersion, .refused(.unsupportedProtocolVersion), .closed]
        if reactions.contains(failure), !isOneVersion, plan.version == .v5 {
            note("connect", "connect", .note("the broker does not support this version"))
            versionResults[versionResults.count - 1].isComplete = true
            return true
        }
        var outcome = ProbeOutcome(state: .problem, text: failure.text(timeLimit: plan.timeLimit))
        outcome.advice = "Use courier doctor with the same options to find the cause."
        let code =
            switch failure {
            case .transport(let error): error.code.isOfTLS ? ExitCode.tlsFailed : ExitCode.failure
            case .refused: ExitCode.connectionRefused
            default: ExitCode.protocolError
            }
        note("connect", "connect", outcome, exitCode: code)
        if case .transport = failure { return false }
        return true
    }

    // MARK: One probe

    /// Runs the first part of a probe that must wait. Returns `nil` for other probes and after a failure.
    private mutating func begin(_ probe: Probe) throws(LinkFailure) -> Pending? {
        guard case .later(let pause, let prepare) = probe.work else { return nil }
        let context = newContext()
        do throws(LinkFailure) {
            let run = try prepare(context)
            return Pending(probe: probe, context: context, start: events.now + pause, run: run)
        } catch {
            try finish(probe, context) { () throws(LinkFailure) in throw error }
            return nil
        }
    }

    /// Records the outcome of a probe, and cleans up.
    private mutating func finish(
        _ probe: Probe, _ context: ProbeContext, _ body: () throws(LinkFailure) -> ProbeOutcome
    ) throws(LinkFailure) {
        var outcome: ProbeOutcome?
        var interruption: LinkFailure?
        do throws(LinkFailure) {
            outcome = try body()
        } catch {
            if error == .interrupted { interruption = error } else { outcome = failed(probe, error) }
        }
        var rest: String?
        events.shielded { rest = context.cleanUp() }
        if let outcome { note(probe.name, probe.title, outcome) }
        if let rest { note("cleanUp", "clean up", .note(rest)) }
        if let interruption { throw interruption }
    }

    /// The outcome of a probe that a failure ended early.
    private func failed(_ probe: Probe, _ failure: LinkFailure) -> ProbeOutcome {
        let text = failure.text(timeLimit: plan.timeLimit)
        var outcome = ProbeOutcome.violation(text, nil)
        switch failure {
        case .messageRefused(.notAuthorized), .subscriptionRefused(.notAuthorized), .refused, .transport:
            outcome.advice = "The probe could not be completed. Use a client that may use the topics courier-test-…."
        default: outcome.clause = probe.clause?.name(in: plan.version)
        }
        return outcome
    }

    private mutating func note(
        _ name: String, _ title: String, _ outcome: ProbeOutcome, exitCode: Int32 = ExitCode.protocolError
    ) {
        let result = Result(name: name, title: title, outcome: outcome, exitCode: exitCode)
        versionResults[versionResults.count - 1].results.append(result)
        report(result, plan.version)
    }
}
