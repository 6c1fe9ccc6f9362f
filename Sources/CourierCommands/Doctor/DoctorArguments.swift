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
    /// Below so many days left, a certificate is worth a note.
    package var expiryDays = 21

    package init() {}

    /// The options of `pub` and `sub` that say where the broker is, who is asking, and how to speak TLS.
    private static let shared: Set<String> = [
        "-h", "-p", "--unix", "--proxy", "-u", "-P", "--cafile", "--capath", "--cert", "--key", "--keyform",
        "--insecure", "--tls-alpn", "--tls-version", "--tls-use-os-certs", "--no-tls",
    ]

    private static let url = Option<DoctorArguments>(
        OptionNames("L", "url"), .one("URL"),
        "Host, port, user and password in one: mqtt(s)://[user[:password]@]host[:port]; a topic is passed over.",
        missing: "URL"
    ) {
        // With a slash behind it, because `pub` and `sub` want one.
        let url = try BrokerURL($1[0] + "/")
        if url.isWebSocket {
            throw ArgumentError("WebSockets are not examined.", hint: "Use mqtt:// or mqtts://.")
        }
        $0.connection.applyPlace(of: url)
    }

    /// Its options.
    package static let groups: [OptionGroup<DoctorArguments>] =
        ConnectionArguments.groups(with: shared).map { $0.part(\.connection) } + [
            OptionGroup(
                "Examination",
                [
                    url,
                    Option(
                        OptionNames("i", "id"), .one("ID"),
                        "The client id, for brokers that allow only known ones; a random one by default. A session that "
                            + "the broker keeps under it is lost, and a client that uses it is disconnected.",
                        missing: "id"
                    ) { $0.connection.clientID = $1[0] },
                    Option(
                        OptionNames("W"), .one("SECONDS"), "How long each step may take; 10 by default.",
                        missing: "timeout"
                    ) { $0.timeLimit = try WholeNumber.value($1[0], in: 1...3_600, of: "timeout") },
                    Option(
                        OptionNames("n", "count"), .one("COUNT"),
                        "How many round trips are measured; 5 by default, 0 for none.", missing: "count"
                    ) { $0.roundTripCount = try WholeNumber.value($1[0], in: 0...10_000, of: "count") },
                    Option(
                        OptionNames(nil, "publish"),
                        "Measure them by messages of QoS 1 to the topic courier-doctor/ID, and not by pings."
                    ) { settings, _ in settings.publishes = true },
                    Option(
                        OptionNames(nil, "expiry-days"), .one("DAYS"),
                        "Note certificates that end within so many days; 21 by default.", missing: "number of days"
                    ) { $0.expiryDays = try WholeNumber.value($1[0], in: 0...100_000, of: "number of days") },
                    Option(OptionNames(nil, "json"), "Print the findings as JSON.") { settings, _ in
                        settings.isJSON = true
                    },
                ]), HelpOptions.group(),
        ]
}
