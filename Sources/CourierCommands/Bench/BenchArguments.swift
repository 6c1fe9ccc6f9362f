package import CommandArguments

/// The command-line options of `courier bench`.
package struct BenchArguments: Sendable {
    package var connection = ConnectionArguments(.publisher)
    package var count = 10_000
    /// The size of a payload in bytes.
    package var size = 64
    /// The number of messages to send per second; `nil` means as many as possible.
    package var rate: Int?
    /// The maximum number of messages that are sent but not yet received.
    package var window = 100
    /// The file for the SVG report, or `nil` for no report.
    var report: ReportFile?

    package init() {}

    /// The names of the connection options that `bench` has in common with `pub` and `sub`.
    private static let shared: Set<String> = [
        "-h", "-p", "--unix", "--proxy", "-u", "-P", "-V", "-M", "--ws", "--cafile", "--capath", "--cert", "--key",
        "--keyform", "--insecure", "--tls-alpn", "--tls-version", "--tls-use-os-certs", "--no-tls",
    ]

    /// The options, in the groups that the help text shows.
    package static let groups: [OptionGroup<BenchArguments>] =
        [
            OptionGroup(
                "Load",
                [
                    ConnectionArguments.topic("The topic to publish to; by default, a new topic for each run.").part(
                        \.connection),
                    ConnectionArguments.qos("The quality of service (QoS): 0, 1 or 2; 0 by default.").part(
                        \.connection),
                    Option(
                        OptionNames("n", "count"), .one("COUNT"), "The number of messages to send; 10000 by default.",
                        missing: "count"
                    ) { $0.count = try WholeNumber.value($1[0], in: 1...1_000_000_000, of: "count") },
                    Option(
                        OptionNames("s", "size"), .one("BYTES"),
                        "The size of each payload in bytes; at least 16, and 64 by default.", missing: "size"
                    ) { $0.size = try WholeNumber.value($1[0], in: 16...1_048_576, of: "size") },
                    Option(
                        OptionNames(nil, "rate"), .one("MESSAGES"),
                        "The number of messages to send per second; no limit by default.", missing: "rate"
                    ) { $0.rate = try WholeNumber.value($1[0], in: 1...10_000_000, of: "rate") },
                    Option(
                        OptionNames(nil, "window"), .one("COUNT"),
                        "The maximum number of sent messages that have not arrived yet; 100 by default.",
                        missing: "count"
                    ) { $0.window = try WholeNumber.value($1[0], in: 1...100_000, of: "count") },
                    Option(
                        OptionNames(nil, "report"), .one("FILE", .files),
                        "Draw message rate, percentiles and histogram into this new file. The name must end in .svg.",
                        missing: "file"
                    ) { settings, values throws(ArgumentError) in settings.report = try ReportFile(values[0]) },
                ])
        ]
        + ConnectionArguments.groups(with: shared).map { $0.part(\.connection) } + [HelpOptions.group()]
}
