package import CommandArguments
import CourierCore
package import CourierTesting
import Foundation

/// The command-line options of `courier proxy`.
package struct ProxyArguments: Sendable, Equatable {
    /// The kind of file that `--record` writes.
    package enum RecordingFormat: Sendable, Equatable {
        /// An archive, which `courier inspect` can read while the proxy writes it.
        case archive
        /// JSON Lines, which `courier inspect` reads.
        case jsonLines
        /// A capture for Wireshark.
        case pcapng

        /// The format that belongs to the extension of the file name; `nil` for an unknown extension.
        init?(_ path: String) {
            switch (path as NSString).pathExtension.lowercased() {
            case "archive", "mqttchuck": self = .archive
            case "jsonl": self = .jsonLines
            case "pcapng": self = .pcapng
            default: return nil
            }
        }
    }

    package var listening = HostAndPort(host: "127.0.0.1", port: 1_884)
    package var broker: HostAndPort?
    package var faults: [FaultRule] = []
    package var recordPath: String?
    package var recordFormat = RecordingFormat.archive
    package var isInspected = false
    package var isQuiet = false
    package var isDebugging = false

    package init() {}

    /// The options, in the groups that the help text shows.
    package static let groups: [OptionGroup<ProxyArguments>] = [
        OptionGroup(
            "Addresses",
            [
                Option(
                    OptionNames(nil, "listen"), .one("[HOST:]PORT"),
                    "The address for clients. With the default 127.0.0.1:1884, only local programs can connect. "
                        + "With port 0, the system chooses a free port.", missing: "address"
                ) { $0.listening = try HostAndPort($1[0], of: "--listen", defaultHost: "127.0.0.1") },
                Option(
                    OptionNames(nil, "to"), .one("HOST:PORT"), "The broker, which must accept TCP without TLS.",
                    missing: "broker"
                ) {
                    let broker = try HostAndPort($1[0], of: "--to")
                    guard broker.port > 0 else {
                        throw ArgumentError(
                            "--to: 0 is not the port of a broker.", hint: "Write the broker's port, often 1883.")
                    }
                    $0.broker = broker
                },
            ]),
        OptionGroup(
            "Faults",
            [
                Option(
                    OptionNames(nil, "fault"), .one("RULE"),
                    "Inject this fault, such as 'drop the third PUBACK'. May be repeated.", missing: "rule"
                ) {
                    do throws(FaultRuleError) {
                        $0.faults.append(try FaultRule($1[0]))
                    } catch {
                        throw ArgumentError(
                            "--fault: \($1[0].quoted()) cannot be read, \(error).",
                            hint: "'courier proxy --help' explains the words of a rule.")
                    }
                }
            ]),
        OptionGroup(
            "Recording and output",
            [
                Option(
                    OptionNames(nil, "record"), .one("FILE", .files),
                    "Record the forwarded packets without passwords, in a file that only this user can read. "
                        + "Use FILE.archive or FILE.jsonl for 'courier inspect', and FILE.pcapng for Wireshark.",
                    missing: "file"
                ) {
                    guard let format = RecordingFormat($1[0]) else {
                        throw ArgumentError(
                            "--record: the file name \($1[0].quoted()) does not end with a known format.",
                            hint: "Use a name that ends with .archive, .jsonl or .pcapng.")
                    }
                    $0.recordPath = $1[0]
                    $0.recordFormat = format
                },
                Option(
                    OptionNames(nil, "inspect"), "Serve the inspector's page, and print its address to standard error."
                ) { settings, _ in settings.isInspected = true },
                Option(OptionNames("d", "debug"), "Print a line for each packet, without payloads.") { settings, _ in
                    settings.isDebugging = true
                },
                Option(
                    OptionNames(nil, "quiet"),
                    "Print only the address and the summary, and no lines for connections and faults."
                ) { settings, _ in settings.isQuiet = true },
            ]),
        HelpOptions.group(),
    ]

    /// True if only programs on this machine can connect.
    package var isLocal: Bool { listening.host.isLoopbackHost }

    /// True if the proxy listens on all addresses of this machine.
    private var listensEverywhere: Bool { ["0.0.0.0", "::"].contains(listening.host) }

    /// Checks that the options can be used together. Returns the broker.
    package func checked() throws(ArgumentError) -> HostAndPort {
        guard let broker else {
            throw ArgumentError(
                "--to is missing.", hint: "Name the broker with --to HOST:PORT, such as --to 127.0.0.1:1883.")
        }
        if broker.port == listening.port,
            broker.host == listening.host || listensEverywhere && broker.host.isLoopbackHost
        {
            throw ArgumentError(
                "--to: \(broker) is the address of the proxy itself.",
                hint: "Name the broker's address with --to, or another port with --listen.")
        }
        if isQuiet, isDebugging {
            throw ArgumentError("--quiet prints fewer lines and -d prints more.", hint: "Remove one of these options.")
        }
        return broker
    }
}
