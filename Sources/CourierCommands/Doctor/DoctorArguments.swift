package import CommandArguments

/// The command line of `courier doctor`.
package struct DoctorArguments: Sendable {
    package var connection = ConnectionArguments(.publisher)
    /// How long each step may take, in seconds.
    package var timeLimit = 10
    /// How many round trips are measured.
    package var roundTripCount = 5
    /// Whether the round trips are messages instead of pings.
    package var publishes = false
    package var isJSON = false

    package init() {}

    /// The options of `pub` and `sub` that say where the broker is, who is asking, and how to speak TLS.
    private static let shared: Set<String> = [
        "-h", "-p", "--unix", "--proxy", "-u", "-P", "--cafile", "--capath", "--cert", "--key", "--keyform",
        "--insecure", "--tls-alpn", "--tls-version", "--tls-use-os-certs", "--no-tls",
    ]

    /// Its options.
    package static let groups: [OptionGroup<DoctorArguments>] =
        ConnectionArguments.groups.compactMap { group in
            let options = group.options.filter { shared.contains($0.summary.names.main) }
            return options.isEmpty ? nil : OptionGroup(group.title, options).part(\.connection)
        } + [
            OptionGroup(
                "Examination",
                [
                    Option(
                        OptionNames("i", "id"), .one("ID"),
                        "The client id, for brokers that allow only known ones; a random one by default. A session that "
                            + "the broker keeps under it is lost, and a client that uses it is disconnected.",
                        missing: "id"
                    ) { $0.connection.clientID = $1[0] },
                    Option(
                        OptionNames("W"), .one("SECONDS"), "How long each step may take; 10 by default.",
                        missing: "timeout"
                    ) { $0.timeLimit = try number($1[0], 1...3_600, "timeout") },
                    Option(
                        OptionNames("n", "count"), .one("COUNT"),
                        "How many round trips are measured; 5 by default, 0 for none.", missing: "count"
                    ) { $0.roundTripCount = try number($1[0], 0...10_000, "count") },
                    Option(
                        OptionNames(nil, "publish"),
                        "Measure them by messages of QoS 1 to the topic courier-doctor/ID, and not by pings."
                    ) { settings, _ in settings.publishes = true },
                    Option(OptionNames(nil, "json"), "Print the findings as JSON.") { settings, _ in
                        settings.isJSON = true
                    },
                ]), HelpOptions.group(),
        ]

    private static func number(_ text: String, _ range: ClosedRange<Int>, _ name: String) throws(ArgumentError) -> Int {
        guard let number = Int(text), range.contains(number) else {
            throw ArgumentError(
                "Invalid \(name) \"\(text)\".", hint: "Give a number from \(range.lowerBound) to \(range.upperBound).")
        }
        return number
    }
}
