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
            "What is shown",
            [
                Option(
                    OptionNames("q", "query"), .one("QUERY"), "Only packets that match this query.",
                    missing: "query"
                ) {
                    do throws(MQTTChuckQueryError) {
                        $0.query = try MQTTChuckQuery($1[0])
                    } catch {
                        throw ArgumentError(
                            "The query can not be read, \(error).",
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
                    "Print this number of the slowest exchanges, the slowest first, one line for the first packet of each.",
                    missing: "number"
                ) {
                    guard let number = Int($1[0]), number > 0 else {
                        throw ArgumentError("Invalid number of exchanges \"\($1[0])\".", hint: "Use 1 or more.")
                    }
                    $0.slowest = number
                },
                Option(
                    OptionNames(nil, "sort"), .one("ORDER", .words(["took"])),
                    "took: all exchanges as with --slowest, the slowest first.", missing: "order"
                ) {
                    guard $1[0] == "took" else {
                        throw ArgumentError("Unknown order '\($1[0])'.", hint: "Use took, or leave --sort out.")
                    }
                    $0.slowest = $0.slowest ?? .max
                },
            ]),
        OptionGroup(
            "How",
            [
                Option(
                    OptionNames(nil, "export"),
                    .one("FORMAT", .words(MQTTChuckExportFormat.allCases.map(\.rawValue))),
                    "text, a line for each packet, the default without a terminal; jsonl, which this command reads; or "
                        + "pcapng, for Wireshark.",
                    missing: "format"
                ) {
                    guard let format = MQTTChuckExportFormat(rawValue: $1[0]) else {
                        throw ArgumentError("Unknown format '\($1[0])'.", hint: "Use text, jsonl or pcapng.")
                    }
                    $0.format = format
                },
                Option(
                    OptionNames("o", "output"), .one("FILE", .files), "Write to this file instead of standard output.",
                    missing: "file"
                ) { $0.outputPath = $1[0] },
                Option(
                    OptionNames(nil, "serve"), "Serve the inspector's page, print its address, and run until Ctrl-C."
                ) { settings, _ in settings.isServed = true },
                Option(
                    OptionNames("p", "port"), .one("PORT"), "The page's port; by default a free port.", missing: "port"
                ) {
                    guard let port = UInt16($1[0]) else { throw ArgumentError("Invalid port given: \($1[0])") }
                    $0.port = port
                },
            ]), HelpOptions.group(),
    ]

    /// Stores an argument that is not an option: the path of the recording. Throws an error if there is a second path.
    package mutating func take(_ word: String) throws {
        guard path == nil else { throw ArgumentError("One file at a time; '\(word)' is too much.") }
        path = word
    }

    /// Checks that the options can be used together. Returns the path of the recording.
    package func checked() throws(ArgumentError) -> String {
        guard let path else {
            throw ArgumentError(
                "Say which file: a recording as JSON Lines, or an archive.",
                hint: "The page of 'courier sub --inspect' and MQTTChuckLogger make recordings.")
        }
        if isServed, format != nil || outputPath != nil || row != nil || slowest != nil || !query.isEmpty {
            throw ArgumentError("--serve shows all of the file.", hint: "Search and export on the page.")
        }
        if port != nil, !isServed { throw ArgumentError("--port is the port of the page.", hint: "Add --serve.") }
        if slowest != nil, let format, format != .text {
            throw ArgumentError(
                "--slowest and --sort print text, and --export \(format.rawValue) keeps the order of time.",
                hint: "Leave one of them out.")
        }
        if row != nil, format != nil || outputPath != nil || slowest != nil || !query.isEmpty {
            throw ArgumentError("--row shows one packet and cannot be combined with other options.")
        }
        return path
    }
}
