package import CommandArguments

/// The command-line options of `courier doctor`.
package struct DoctorArguments: Sendable {
    package var connection = ConnectionArguments(.publisher)
    /// The time limit of each step in seconds.
    package var timeLimit = 10
    /// The number of round trips to measure.
    package var roundTripCount = 5
    /// True if the round trips are measured with messages instead of pings.
    package var publishes = false
    package var isJSON = false
    /// If a certificate expires in fewer days than this, its finding is a notice.
    package var expiryDays = 21

    package init() {}

    /// The options, in the groups that the help text shows.
    package static let groups: [OptionGroup<DoctorArguments>] =
        AddressOptions.groups.map { $0.part(\.connection) } + [
            OptionGroup(
                "Examination",
                [
                    AddressOptions.url(for: "doctor").part(\.connection),
                    Option(
                        OptionNames("i", "id"), .one("ID"),
                        "The client id, if the broker allows only certain client ids; random by default. "
                            + "The broker deletes the session of this client id, and disconnects its present client.",
                        missing: "id"
                    ) { $0.connection.clientID = $1[0] },
                    Option(
                        OptionNames("W"), .one("SECONDS"),
                        "The maximum duration of each step in seconds; 10 by default. "
                            + "Only the operating system limits the name lookup.",
                        missing: "timeout"
                    ) { $0.timeLimit = try WholeNumber.value($1[0], in: 1...3_600, of: "timeout") },
                    Option(
                        OptionNames("n", "count"), .one("COUNT"),
                        "The number of round trips to measure; 5 by default, 0 for none.", missing: "count"
                    ) { $0.roundTripCount = try WholeNumber.value($1[0], in: 0...10_000, of: "count") },
                    Option(
                        OptionNames(nil, "publish"),
                        "Measure round trips with QoS 1 messages to the topic courier-doctor/ID, instead of with pings."
                    ) { settings, _ in settings.publishes = true },
                    Option(
                        OptionNames(nil, "expiry-days"), .one("DAYS"),
                        "Report certificates that expire within this number of days; 21 by default. "
                            + "The report is a note, and does not change the exit code.",
                        missing: "number of days"
                    ) { $0.expiryDays = try WholeNumber.value($1[0], in: 0...100_000, of: "number of days") },
                    Option(OptionNames(nil, "json"), "Print the findings as JSON.") { settings, _ in
                        settings.isJSON = true
                    },
                ]), HelpOptions.group(),
        ]
}
