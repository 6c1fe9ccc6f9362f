package import CommandArguments
package import CourierCore

/// The command-line options of `courier sub`.
package struct SubscribeArguments: Sendable {
    package var connection = ConnectionArguments(.subscriber)
    package var output = OutputArguments()
    package var unwantedTopics: [String] = []
    package var filteredOut: [TopicFilter] = []
    package var messageCount: Int?
    package var timeout: Int?
    package var endsWhenSubscribed = false
    package var isRetainedOnly = false
    package var removesRetained = false
    package var showsRate = false
    package var isWatching = false
    /// The probability that a message is printed, in units of 1/10,000.
    package var chance = 10_000

    package init() {}

    /// The options, in the groups that the help text shows.
    package static let groups: [OptionGroup<SubscribeArguments>] =
        [
            OptionGroup("Topics", topics), OptionGroup("Messages", messages),
            OptionGroup(
                "Output",
                OutputArguments.options.map { $0.part(\.output) } + [
                    Option<OutputArguments>(
                        OptionNames(nil, "message-type", "message"), .one("TYPE"),
                        "The full name of the message type, such as chat.Note. "
                            + "If the .proto file has only one message type, this option may be omitted.",
                        missing: "type"
                    ) { $0.protoType = $1[0] }.part(\.output)
                ] + display),
        ] + ConnectionArguments.groups.map { $0.part(\.connection) } + [HelpOptions.group()]

    private static let topics: [Option<SubscribeArguments>] =
        [
            ConnectionArguments.topic("A topic filter to subscribe to; may be repeated.").part(\.connection),
            Option(
                OptionNames("T", "filter-out"), .one("FILTER"),
                "Do not print messages whose topic matches this filter; may be repeated.", missing: "topic filter"
            ) {
                try MalformedText.check($1[0], of: "-T")
                guard let filter = try? TopicFilter($1[0]) else {
                    throw ArgumentError("Invalid filter topic '\($1[0])', are all '+' and '#' wildcards correct?")
                }
                $0.filteredOut.append(filter)
            },
            Option(
                OptionNames("U", "unsubscribe"), .one("FILTER"),
                "A topic filter to unsubscribe from, in a continued session (-c); may be repeated.",
                missing: "unsubscribe topic"
            ) {
                try MalformedText.check($1[0], of: "-U")
                guard (try? TopicFilter($1[0])) != nil else {
                    throw ArgumentError("Invalid unsubscribe topic '\($1[0])', are all '+' and '#' wildcards correct?")
                }
                $0.unwantedTopics.append($1[0])
            },
            ConnectionArguments.qos(
                "The highest quality of service (QoS) of received messages: 0, 1 or 2; 0 by default."
            )
            .part(\.connection),
        ] + ConnectionArguments.subscription.map { $0.part(\.connection) }

    private static let messages: [Option<SubscribeArguments>] = [
        Option(OptionNames("C"), .one("COUNT"), "End after this number of messages.", missing: "count") {
            let count = NumberText.whole($1[0])
            guard count >= 1 else { throw ArgumentError("Invalid message count \"\(count)\".", blankLines: 2) }
            $0.messageCount = count
        },
        Option(
            OptionNames("W"), .one("SECONDS"),
            "End after this time with exit code 27, or with 255 if the broker has not accepted the connection.",
            missing: "timeout"
        ) {
            let seconds = NumberText.whole($1[0])
            guard seconds >= 1 else { throw ArgumentError("Invalid timeout \"\(seconds)\".", blankLines: 2) }
            $0.timeout = min(seconds, 86_400 * 365)
        },
        Option(OptionNames("E"), "End when the broker has confirmed all subscriptions.") { settings, _ in
            settings.endsWhenSubscribed = true
        },
        Option(
            OptionNames(nil, "retained-only"),
            "Print retained messages only, and end at the first message that is not retained."
        ) { settings, _ in settings.isRetainedOnly = true },
        Option(
            OptionNames(nil, "remove-retained"),
            "Remove each received retained message from the broker. "
                + "If a message could not be removed, the exit code is 1, unless the broker refused the removal. "
                + "While 64 MiB of topics wait for their removal, further messages are not removed."
        ) { settings, _ in settings.removesRetained = true },
        Option(
            OptionNames(nil, "random-filter"), .one("PERCENT"),
            "Print only this percentage of the messages, chosen at random.", missing: "chance"
        ) {
            $0.chance = Int(min(100 * NumberText.decimal($1[0]), 1_000_000))
            guard (1...10_000).contains($0.chance) else {
                throw ArgumentError("--random-filter chance must be between 0.1-100.0", blankLines: 2)
            }
        },
    ]

    private static let display: [Option<SubscribeArguments>] = [
        Option(OptionNames("w", "watch"), "Show the latest message of each topic on its own line of the terminal.") {
            settings, _ in
            settings.isWatching = true
        },
        Option(
            OptionNames(nil, "message-rate"), "Print the number of messages per second instead of the messages."
        ) { settings, _ in settings.showsRate = true },
    ]
}
