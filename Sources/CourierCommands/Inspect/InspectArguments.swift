package import CommandArguments
package import CourierMQTTChuck

/// The command-line options of `courier inspect`.
package struct InspectArguments: Sendable {
    package var path: String?
    package var query = MQTTChuckQuery.all
    package var format: MQTTChuckExportFormat?
    package var outputPath: String?
    package var isServed = false
    package var port: UInt16?
    /// The number of the packet to show in full.
    package var row: UInt64?
    /// The number of slowest exchanges to show. If it is `nil`, packets are shown in the order of time.
    package var slowest: Int?

    package init() {}

    /// The options, in the groups that the help text shows.
    package static let groups: [OptionGroup<InspectArguments>] = [
        OptionGroup(
            "Selection",
            [
                Option(
                    OptionNames("q", "query"), .one("QUERY"), "Show only packets that match this query.",
                    missing: "query"
                ) {
                    do throws(MQTTChuckQueryError) {
                        $0.query = try MQTTChuckQuery($1[0])
                    } catch {
                        throw ArgumentError(
                            "The query is invalid, \(error).",
                            hint: "'courier inspect --help' lists the options.")
                    }
                },
                Option(
                    OptionNames(nil, "row"), .one("NUMBER"), "Print everything about the packet with this number.",
                    missing: "number"
                ) {
                    guard let row = UInt64($1[0]) else { throw ArgumentError("Invalid row \"\($1[0])\".") }
                    $0.row = row
                },
                Option(
                    OptionNames(nil, "slowest"), .one("NUMBER"),
                    "Print this number of exchanges, the slowest first. Each line is the first packet of an exchange.",
                    missing: "number"
                ) {
                    guard let number = Int($1[0]), number > 0 else {
                        throw ArgumentError(
                            "Invalid number of exchanges \"\($1[0])\".", hint: "The number must be 1 or more.")
                    }
                    $0.slowest = number
                },
                Option(
                    OptionNames(nil, "sort"), .one("ORDER", .words(["took"])),
                    "The order of the output. With took, inspect prints all exchanges, the slowest first.",
                    missing: "order"
                ) {
                    guard $1[0] == "took" else {
                        throw ArgumentError("Unknown order '\($1[0])'.", hint: "Use --sort took, or remove --sort.")
                    }
                    $0.slowest = $0.slowest ?? .max
                },
            ]),
        OptionGroup(
            "Output",
            [
                Option(
                    OptionNames(nil, "export"),
                    .one("FORMAT", .words(MQTTChuckExportFormat.allCases.map(\.rawValue))),
                    "The output format: text, jsonl or pcapng. text prints one line for each packet. "
                        + "This command can read jsonl, and Wireshark can read pcapng. "
                        + "Without a terminal, the default is text.",
                    missing: "format"
                ) {
                    guard let format = MQTTChuckExportFormat(rawValue: $1[0]) else {
                        throw ArgumentError("Unknown format '\($1[0])'.", hint: "Use text, jsonl or pcapng.")
                    }
                    $0.format = format
                },
                Option(
                    OptionNames("o", "output"), .one("FILE", .files),
                    "Write to this file instead of standard output. "
                        + "An existing file is replaced, but the recording itself cannot be the output file.",
                    missing: "file"
                ) { $0.outputPath = $1[0] },
                Option(
                    OptionNames(nil, "serve"),
                    "Show the packets on a web page, print its address, and run until Ctrl-C."
                ) { settings, _ in settings.isServed = true },
                Option(
                    OptionNames("p", "port"), .one("PORT"), "The port of the web page; by default, a free port.",
                    missing: "port"
                ) {
                    guard let port = UInt16($1[0]) else { throw ArgumentError("Invalid port given: \($1[0])") }
                    $0.port = port
                },
            ]), HelpOptions.group(),
    ]

    /// Stores an argument that is not an option: the path of the recording. Throws an error if there is a second path.
    package mutating func take(_ word: String) throws {
        guard path == nil else { throw ArgumentError("Only one file can be given. Remove '\(word)'.") }
        path = word
    }

    /// Checks that the options can be used together. Returns the path of the recording.
    package func checked() throws(ArgumentError) -> String {
        guard let path else {
            throw ArgumentError(
                "The file is missing. Give a recording as JSON Lines, or an archive.",
                hint: "To make a recording, use MQTTChuckLogger or the web page of 'courier sub --inspect'.")
        }
        if isServed, format != nil || outputPath != nil || row != nil || slowest != nil || !query.isEmpty {
            throw ArgumentError(
                "--serve shows the whole file, and cannot be combined with options that select or export packets.",
                hint: "Search and export on the web page.")
        }
        if port != nil, !isServed { throw ArgumentError("--port can only be used with --serve.", hint: "Add --serve.") }
        if slowest != nil, let format, format != .text {
            throw ArgumentError(
                "--slowest and --sort cannot be combined with --export \(format.rawValue).",
                hint: "Remove one of these options.")
        }
        if row != nil, format != nil || outputPath != nil || slowest != nil || !query.isEmpty {
            throw ArgumentError("--row shows one packet and cannot be combined with other options.")
        }
        return path
    }
}
