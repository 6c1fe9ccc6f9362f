package import CommandArguments

/// The command-line options of `courier pub`.
package struct PublishArguments: Sendable {
    package var connection = ConnectionArguments(.publisher)
    package var payload = PayloadArguments()
    package var isRetained = false
    package var repeatCount = 1
    package var repeatDelay = Duration.zero

    package init() {}

    /// The options, in the groups that the help text shows.
    package static let groups: [OptionGroup<PublishArguments>] =
        [
            OptionGroup(
                "Messages",
                [
                    ConnectionArguments.topic("The topic to publish to.").part(\.connection)
                ] + (PayloadArguments.options + [PayloadArguments.lines]).map { $0.part(\.payload) } + [
                    ConnectionArguments.qos("The quality of service (QoS): 0, 1 or 2; 0 by default.").part(
                        \.connection),
                    Option(
                        OptionNames("r", "retain"), "The broker keeps the message for later subscribers."
                    ) { settings, _ in settings.isRetained = true },
                    Option(
                        OptionNames(nil, "repeat"), .one("COUNT"), "Send the message this number of times.",
                        missing: "count"
                    ) {
                        $0.repeatCount = NumberText.whole($1[0])
                        if $0.repeatCount < 1 { throw ArgumentError("--repeat argument must be >0.", blankLines: 2) }
                    },
                    Option(
                        OptionNames(nil, "repeat-delay"), .one("SECONDS"), "The pause before each repetition.",
                        missing: "time"
                    ) {
                        let seconds = NumberText.decimal($1[0])
                        guard seconds >= 0 else {
                            throw ArgumentError("--repeat-delay argument must be >=0.0.", blankLines: 2)
                        }
                        $0.repeatDelay = .seconds(min(seconds, 86_400 * 365))
                    },
                ] + PayloadArguments.formats.map { $0.part(\.payload) })
        ] + ConnectionArguments.groups.map { $0.part(\.connection) } + [HelpOptions.group()]
}
