package import CommandArguments
import CourierTesting
import CourierTransport
import Dispatch

/// The command `courier proxy`: forwards MQTT between clients and a broker, and injects faults.
package struct ProxyCommand: CourierCommand {
    package init() {}

    package var summary: CommandSummary {
        CommandSummary(
            name: "proxy", abstract: "forward packets between clients and a broker, and inject faults",
            usage: [
                "--to HOST:PORT [--listen [HOST:]PORT] [--fault RULE …] [--record FILE] [OPTION …]"
            ],
            discussion: [
                "The proxy forwards MQTT 3.1, 3.1.1 and 5 over TCP between any clients and one broker. "
                    + "A broker with TLS or WebSocket is not supported. SIGINT and SIGTERM end the proxy normally.",
                "A rule is a sentence: an action, a number, packet types, and details. "
                    + "The actions are drop, delay, duplicate, corrupt, cut and reset. corrupt inverts the last byte. "
                    + "cut closes both sides of the connection, and reset uses a TCP reset. "
                    + "After cut or reset, write \"after\" to forward the packet first, or \"at\" to drop the packet.",
                "The number is \"the third\", \"the 100th\", \"every tenth\", \"the first 5\" or \"every\". "
                    + "Without a number, the rule applies to all packets. "
                    + "Packet types are names such as PUBLISH. Separate several names by commas: PUBACK, PUBREC. "
                    + "The word \"packets\" stands for all packet types.",
                "The details of a rule may follow in any order. "
                    + "\"from the client\" or \"from the broker\" selects the sender. "
                    + "\"to FILTER\" selects packets by the topics of PUBLISH, SUBSCRIBE and UNSUBSCRIBE. "
                    + "Write a filter with spaces in double quotes. "
                    + "A delay needs a time, such as \"by 2 s\" or \"by 500 ms\". "
                    + "The number \"3\" selects only the third packet, and \"after 10\" selects all later packets.",
                "A rule counts its packets in all connections together. "
                    + "Packets behind a delayed packet of the same direction wait too. "
                    + "If several rules apply to a packet, all their faults happen.",
                "A packet of more than 1 MiB is forwarded in parts, and not recorded. "
                    + "A rule matches such a packet by type and topic.",
            ],
            groups: ProxyArguments.groups.map(\.summary),
            examples: [
                .init(
                    "courier proxy --to 127.0.0.1:1883 --fault 'drop the third PUBACK'",
                    "Loses one acknowledgement for clients of port 1884."),
                .init(
                    "courier proxy --to 127.0.0.1:1883 --fault 'delay PUBLISH to a/# by 2 s'",
                    "Delays the messages whose topic matches the filter a/#."),
                .init(
                    "courier proxy --to broker.example:1883 --listen 0 --fault 'cut after 100 packets' --record run.pcapng",
                    "Cuts a connection after 100 packets, and writes a capture file for Wireshark."),
            ],
            exitCodes: [
                .init("0", "SIGINT or SIGTERM ended the proxy."),
                .init(
                    "1",
                    "The command line is wrong, the proxy cannot listen at the address, or packets could not be recorded."
                ),
            ])
    }

    package func run(_ arguments: [String], _ console: Console) throws -> Int32 {
        var settings = ProxyArguments()
        try ArgumentReader(ProxyArguments.groups).read(arguments, into: &settings)
        let broker = try settings.checked()
        let recorder: ProxyRecorder?
        if settings.recordPath != nil || settings.isInspected {
            recorder = try ProxyRecorder(settings, to: broker, console)
        } else {
            recorder = nil
        }
        let proxy = try Self.start(settings, to: broker, recorder, console)
        do {
            try recorder?.begin(settings)
        } catch {
            Task { await proxy.shutdown() }
            throw error
        }
        let ending = Ending()
        let signals = ending.watch(SystemSignal.endings, on: DispatchQueue(label: "courier.proxy")) { _ in
            Task {
                await proxy.shutdown()
                let problem = await recorder?.close()
                if let problem { console.tell("Error: \(problem)") }
                console.write(ProxyLines.summary(proxy.counts) + "\n")
                ending.end(problem == nil ? ExitCode.success : ExitCode.failure)
            }
        }
        Self.showBeginning(settings, to: broker, port: proxy.port, console)
        return withExtendedLifetime(signals) { ending.wait() }
    }

    private static func start(
        _ settings: ProxyArguments, to broker: HostAndPort, _ recorder: ProxyRecorder?, _ console: Console
    ) throws(ArgumentError) -> FaultProxy {
        let lines = settings.isQuiet ? nil : ProxyLines(showsPackets: settings.isDebugging)
        do throws(TransportError) {
            return try FaultProxy.start(
                to: .tcp(host: broker.host, port: broker.port),
                listening: .tcp(host: settings.listening.host, port: settings.listening.port), rules: settings.faults
            ) { event in
                recorder?.observed(event)
                guard let lines = lines?.lines(of: event), !lines.isEmpty else { return }
                console.write(lines.map { $0 + "\n" }.joined())
                console.flush()
            }
        } catch {
            throw ArgumentError("--listen: the proxy cannot listen: \(error.message).", hint: hint(error.code))
        }
    }

    /// Prints the addresses and the rules. The signal handlers are already installed, so a script can end the proxy as
    /// soon as it reads these lines.
    private static func showBeginning(
        _ settings: ProxyArguments, to broker: HostAndPort, port: UInt16, _ console: Console
    ) {
        console.write(banner(settings, to: broker, port: port))
        console.flush()
        if !settings.isLocal {
            console.tell(
                "Warning: other machines can reach \(settings.listening.host), and can use the broker through the proxy."
            )
        }
    }

    static func banner(_ settings: ProxyArguments, to broker: HostAndPort, port: UInt16) -> String {
        let place = HostAndPort(host: settings.listening.host, port: port)
        let lines =
            ["courier proxy listens on \(place) and forwards to \(broker)."]
            + settings.faults.map { "Rule: \($0)".onOneLine } + ["Ctrl-C ends the proxy."]
        return lines.map { $0 + "\n" }.joined()
    }

    static func hint(_ code: TransportError.Code) -> String? {
        switch code {
        case .addressInUse:
            "Another program uses this port: end that program, or choose another port with --listen (0: any free port)."
        case .hostNotFound, .nameResolutionFailed:
            "--listen needs an address of this machine, such as 127.0.0.1 or 0.0.0.0, not a name."
        case .permissionDenied: "Only the administrator may use ports below 1024: choose another port with --listen."
        default: "Choose an address of this machine with --listen, such as 127.0.0.1:1884."
        }
    }
}
