package import CommandArguments
import CourierTransport
import Dispatch
import Synchronization

/// The command `courier test`: finds the features and limits of a broker by using them.
package struct TestCommand: CourierCommand {
    package init() {}

    package var summary: CommandSummary {
        CommandSummary(
            name: "test", abstract: "find a broker's features and limits by using them",
            usage: ["[-h HOST] [-p PORT] [-u NAME -P PASSWORD] [--cafile FILE] [-V VERSION] [OPTIONS]"],
            discussion: [
                "test uses each feature with MQTT 5 and 3.1.1: QoS, retained messages, wildcards, shared subscriptions, "
                    + "sessions, wills and the features of MQTT 5. "
                    + "Then test prints which features work, and the largest sizes that work.",
                "In the output, ok means that the feature works, and note means that the broker limits the feature. "
                    + "PROBLEM means that the broker breaks a rule of the specification. "
                    + "A second line names the rule, such as [MQTT-3.3.1-6].",
                "test uses topics that begin with courier-test-, and random client ids. "
                    + "At the end, test removes its retained messages and sessions. "
                    + "To find limits, test also sends packets that exceed a limit. Brokers may log these packets.",
                "--json prints one object with the keys broker, isConformant, isComplete and versions. "
                    + "The object for each MQTT version has the keys version, isComplete, limits and probes. "
                    + "The limits are those that a broker announces in MQTT 5. "
                    + "The object of a probe has the keys probe, state (good, notice or problem) and text. "
                    + "The object also has the keys clause, advice, found and announced, if their values are known. "
                    + "Sizes are in bytes.",
            ],
            groups: TestArguments.groups.map(\.summary),
            examples: [
                .init("courier test -h broker.example", "Tests a broker without TLS."),
                .init(
                    "courier test -h broker.example -V mqttv311 --count 1000",
                    "Tests only MQTT 3.1.1, with a thousand messages for each QoS."),
                .init(
                    "courier test --max-payload 16777216 --json", "Tries payloads up to 16 MiB, and prints JSON."),
            ],
            exitCodes: [
                .init("0", "All probes were made, and the broker does what the specification requires."),
                .init("1", "The command line is wrong, the name has no address, or no server answers."),
                .init("2", "The broker breaks a rule of the specification, or a probe failed."),
                .init("5", "The broker refuses the connection."), .init("8", "TLS failed."),
                .init("130, 143", "SIGINT or SIGTERM ended the test. The results until then are printed."),
            ])
    }

    package func run(_ arguments: [String], _ console: Console) throws -> Int32 {
        var settings = TestArguments()
        try ArgumentReader(TestArguments.groups).read(arguments, into: &settings)
        try settings.connection.check()
        let loop = try EventLoop(name: "courier-test")
        let events = LinkEvents(on: loop)
        let ending = Ending()
        let queue = DispatchQueue(label: "courier.test")
        let signalCode = SignalCode()
        let signals = ending.watch(SystemSignal.endings, on: DispatchQueue(label: "courier.test.signals")) { code in
            signalCode.value.withLock { $0 = code }
            events.interrupt()
        }
        let isJSON = settings.isJSON
        let address = settings.connection
        queue.async { [settings] in
            defer { loop.shutdownAndWait() }
            do {
                var last: String?
                var run = try TestRun(settings, events) { result, version in
                    if isJSON { return }
                    let name = version.shortName
                    if last != name { console.write("\(last == nil ? "" : "\n")MQTT \(name)\n") }
                    last = name
                    console.write(TestReport.lines(result, hasColours: console.hasColours))
                    console.flush()
                    if console.isOutputClosed { events.interrupt() }
                }
                run.run()
                console.write(isJSON ? try TestReport.json(run, place: address.shownPlace) : TestReport.summary(run))
                // If no signal arrived, the run was interrupted because the output can no longer be written.
                let interruption = signalCode.value.withLock { $0 } ?? ExitCode.failure
                ending.end(run.isInterrupted ? interruption : run.problem?.exitCode ?? ExitCode.success)
            } catch let error as TransportError {
                console.complain("Error: \(error.message)")
                ending.end(error.code.isOfTLS ? ExitCode.tlsFailed : ExitCode.failure)
            } catch {
                console.complain("Error: \(error)")
                ending.end(ExitCode.failure)
            }
        }
        return withExtendedLifetime(signals) { ending.wait() }
    }
}

/// Passes the exit code for a signal to the thread that runs the probes.
private final class SignalCode: Sendable {
    let value = Mutex<Int32?>(nil)
}
