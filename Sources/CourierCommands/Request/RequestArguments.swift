package import CommandArguments
import CourierCore

/// The command-line options of `courier rr`.
package struct RequestArguments: Sendable {
    package var connection = ConnectionArguments(.requester)
    package var payload = PayloadArguments()
    package var output = OutputArguments()
    package var responseTopic: String?
    package var timeout: Int?
    package var measuresLatency = false

    package init() {}

    /// The options, in the groups that the help text shows.
    package static let groups: [OptionGroup<RequestArguments>] =
        [
            OptionGroup(
                "Request and response",
                [
                    ConnectionArguments.topic("The topic of the request.").part(\.connection),
                    Option(
                        OptionNames("e"), .one("TOPIC"), "The topic of the response.",
                        missing: "response topic"
                    ) {
                        try MalformedText.check($1[0], of: "-e")
                        guard (try? TopicName($1[0])) != nil else {
                            throw ArgumentError("Invalid response topic '\($1[0])', does it contain '+' or '#'?")
                        }
                        $0.responseTopic = $1[0]
                    },
                ] + PayloadArguments.options.map { $0.part(\.payload) } + [
                    ConnectionArguments.qos(
                        "The quality of service (QoS) of request and response: 0, 1 or 2; 0 by default."
                    )
                    .part(\.connection),
                    Option(
                        OptionNames("W"), .one("SECONDS"),
                        "End with exit code 27 if no response arrives within this time.",
                        missing: "timeout"
                    ) {
                        let seconds = NumberText.whole($1[0])
                        guard seconds >= 1 else {
                            throw ArgumentError("Invalid timeout \"\(seconds)\".", blankLines: 2)
                        }
                        $0.timeout = min(seconds, 86_400 * 365)
                    },
                    Option(OptionNames(nil, "latency"), "Print the time from the request to the response.") {
                        settings, _ in
                        settings.measuresLatency = true
                    },
                ] + ConnectionArguments.subscription.map { $0.part(\.connection) }),
            OptionGroup("Output", OutputArguments.options.map { $0.part(\.output) } + [messageType]),
        ] + ConnectionArguments.groups.map { $0.part(\.connection) } + [HelpOptions.group()]

    /// The option `--message-type`. It names one type for both the request and the response.
    private static let messageType = Option<RequestArguments>(
        OptionNames(nil, "message-type"), .one("TYPE"),
        "The message type of request and response, such as chat.Note. --proto converts both. "
            + "If the .proto file has only one message type, this option may be omitted.",
        missing: "type"
    ) { $0.output.protoType = $1[0] }
}
