package import CommandArguments
import CourierCore

/// The command-line options of `courier bench`.
package struct BenchArguments: Sendable {
    /// The maximum number of clients.
    static let clientLimit = 100_000
    /// The allowed sizes of a payload in bytes.
    static let sizes = 16...1_048_576
    /// The number of messages if neither `-n` nor `--duration` is given.
    private static let defaultCount = 10_000
    /// The longest time that an option can set, one week in seconds.
    private static let longestTime = 604_800

    package var connection = ConnectionArguments(.publisher)
    package var publishers = 1
    package var subscribers = 1
    /// The topic of each publisher, or `nil` for a new topic for each run.
    var topic: ClientTemplate?
    /// The filter of each subscriber, or `nil` for the same text as the topic.
    var filter: ClientTemplate?
    /// The number of messages that `-n` sets.
    package var count: Int?
    /// The time after which no further message is sent, or after which a run without publishers ends.
    package var duration: Duration?
    /// The time over which the connections are opened; zero means as fast as possible.
    package var rampUp = Duration.zero
    /// The size of a payload in bytes.
    package var size = 64
    var payload = BenchPayload.Kind.zeros
    /// The number of messages to send per second; `nil` means as many as possible.
    package var rate: Int?
    /// The maximum number of messages that are sent but have not arrived yet.
    package var window = 100
    /// The files for reports.
    var reports: [ReportFile] = []
    /// The last given option that has an effect only if there is a publisher; `nil` if no such option is given.
    private var publishingOption: String?

    package init() {}

    /// The number of all clients.
    var clients: Int { publishers + subscribers }

    /// True if there are at most two clients. The first problem of a client then ends the run.
    var endsAtFirstProblem: Bool { clients <= 2 }

    /// The number of messages to send; `nil` means no limit.
    var messageLimit: Int? { count ?? (duration == nil ? Self.defaultCount : nil) }

    /// The address of the broker.
    var broker: String {
        let options = connection.connectOptions
        return connection.unixPath ?? "\(options.host):\(options.port)"
    }

    /// Finds options that contradict each other, and report files that cannot be created.
    func check() throws {
        try connection.check()
        guard (1...Self.clientLimit).contains(clients) else {
            throw ArgumentError(
                "\(publishers) publishers and \(subscribers) subscribers are \(clients) clients.",
                hint: "Change --publishers and --subscribers, so that there are 1 to \(Self.clientLimit) clients.")
        }
        if publishers == 0, let publishingOption {
            throw ArgumentError(
                "The option \(publishingOption) has no effect, because --publishers 0 sends no messages.",
                hint: "Remove \(publishingOption), or use at least one publisher.")
        }
        if subscribers == 0, filter != nil {
            throw ArgumentError(
                "The option --filter has no effect, because --subscribers 0 receives no messages.",
                hint: "Remove --filter, or use at least one subscriber.")
        }
        guard size >= payload.smallestSize else {
            throw ArgumentError(
                "A payload of the kind \(payload.rawValue) has at least \(payload.smallestSize) bytes, not \(size).",
                hint: "Use --size \(payload.smallestSize) or more.")
        }
        for (index, report) in reports.enumerated() {
            if reports[..<index].contains(report) {
                throw ArgumentError("--report names the file \(report.path) twice.", hint: "Use each file name once.")
            }
            try report.check()
        }
    }

    /// The names of the connection options that `bench` has in common with `pub` and `sub`.
    private static let shared: Set<String> = [
        "-h", "-p", "--unix", "--proxy", "-u", "-P", "-V", "-M", "--ws", "--cafile", "--capath", "--cert", "--key",
        "--keyform", "--insecure", "--tls-alpn", "--tls-version", "--tls-use-os-certs", "--no-tls",
    ]

    /// The options, in the groups that the help text shows.
    package static let groups: [OptionGroup<BenchArguments>] =
        [OptionGroup("Clients", clientOptions), OptionGroup("Messages", messageOptions)]
        + [OptionGroup("Report", [report])]
        + ConnectionArguments.groups(with: shared).map { $0.part(\.connection) } + [HelpOptions.group()]

    private static let clientOptions: [Option<BenchArguments>] = [
        Option(
            OptionNames(nil, "publishers"), .one("COUNT"), "The number of clients that publish; 1 by default.",
            missing: "count"
        ) { $0.publishers = try WholeNumber.value($1[0], in: 0...clientLimit, of: "count") },
        Option(
            OptionNames(nil, "subscribers"), .one("COUNT"), "The number of clients that subscribe; 1 by default.",
            missing: "count"
        ) { $0.subscribers = try WholeNumber.value($1[0], in: 0...clientLimit, of: "count") },
        Option(
            OptionNames("t", "topic"), .one("TOPIC"),
            "The topic of each publisher; by default, a new topic for each run. "
                + "%i is the number of the publisher, from 1. %c is its client id, and %% is a percent sign.",
            missing: "topic"
        ) { settings, values throws(ArgumentError) in
            settings.topic = try ClientTemplate(topic: values[0], of: "-t")
        },
        Option(
            OptionNames(nil, "filter"), .one("FILTER"),
            "The topic filter of each subscriber, with or without wildcards; by default, the same text as the topic. "
                + "%i is the number of the subscriber, from 1. %c is its client id, and %% is a percent sign.",
            missing: "filter"
        ) { settings, values throws(ArgumentError) in
            settings.filter = try ClientTemplate(filter: values[0], of: "--filter")
        },
        Option(
            OptionNames(nil, "ramp-up"), .one("SECONDS"),
            "Open the connections evenly over this time; by default, as fast as possible.", missing: "time"
        ) { $0.rampUp = .seconds(try WholeNumber.value($1[0], in: 0...longestTime, of: "time")) },
    ]

    private static let messageOptions: [Option<BenchArguments>] = [
        ConnectionArguments.qos("The quality of service (QoS): 0, 1 or 2; 0 by default.").part(\.connection),
        publishing(
            OptionNames("n", "count"), .one("COUNT"),
            "The number of messages of all publishers; 10000 by default, or no limit with --duration.",
            missing: "count"
        ) { $0.count = try WholeNumber.value($1[0], in: 1...1_000_000_000, of: "count") },
        Option(
            OptionNames(nil, "duration"), .one("SECONDS"),
            "Send messages for this time. Without publishers, stay connected for this time.", missing: "time"
        ) { $0.duration = .seconds(try WholeNumber.value($1[0], in: 1...longestTime, of: "time")) },
        publishing(
            OptionNames("s", "size"), .one("BYTES"),
            "The size of each payload in bytes; at least 16, and 64 by default.",
            missing: "size"
        ) { $0.size = try WholeNumber.value($1[0], in: sizes, of: "size") },
        publishing(
            OptionNames(nil, "payload"), .one("KIND", .words(BenchPayload.Kind.allCases.map(\.rawValue))),
            "The content of each payload: zeros (default), random, text or json. A payload also contains the send time.",
            missing: "payload"
        ) { settings, values throws(ArgumentError) in
            guard let kind = BenchPayload.Kind(rawValue: values[0]) else {
                throw ArgumentError(
                    "Invalid payload \"\(values[0])\".", hint: "Use zeros, random, text or json.")
            }
            settings.payload = kind
        },
        publishing(
            OptionNames(nil, "rate"), .one("MESSAGES"),
            "The number of messages that all publishers send per second; no limit by default.", missing: "rate"
        ) { $0.rate = try WholeNumber.value($1[0], in: 1...10_000_000, of: "rate") },
        publishing(
            OptionNames(nil, "window"), .one("COUNT"),
            "The maximum number of sent messages that have not arrived yet; 100 by default.", missing: "count"
        ) { $0.window = try WholeNumber.value($1[0], in: 1...100_000, of: "count") },
    ]

    private static let report = Option<BenchArguments>(
        OptionNames(nil, "report"), .one("FILE", .files),
        "Write the results into this new file, as a picture (.svg) or as data (.json). May be given several times.",
        missing: "file"
    ) { settings, values throws(ArgumentError) in
        guard settings.reports.count < ReportFile.limit else {
            throw ArgumentError("--report is given more than \(ReportFile.limit) times.", hint: "Use fewer reports.")
        }
        settings.reports.append(try ReportFile(values[0]))
    }

    /// Declares an option with one value that has an effect only if there is a publisher.
    private static func publishing(
        _ names: OptionNames, _ values: OptionValues, _ help: String, missing: String,
        action: @escaping Option<BenchArguments>.Action
    ) -> Option<BenchArguments> {
        Option(names, values, help, missing: missing) {
            try action(&$0, $1)
            $0.publishingOption = names.main
        }
    }
}
