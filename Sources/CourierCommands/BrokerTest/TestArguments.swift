package import CommandArguments
package import MQTTCodec

/// The command-line options of `courier test`.
package struct TestArguments: Sendable {
    package var connection = ConnectionArguments(.publisher)
    /// The only version of MQTT to test; `nil` tests MQTT 5 and 3.1.1.
    package var version: ProtocolVersion?
    /// The time limit of each probe in seconds.
    package var timeLimit = 5
    /// The number of messages of a probe that counts messages.
    package var messageCount = 10
    /// The largest payload that is tried, in bytes.
    package var maximumPayload = 1 << 20
    package var isJSON = false

    package init() {}

    /// The options, in the groups that the help text shows.
    package static let groups: [OptionGroup<TestArguments>] =
        AddressOptions.groups.map { $0.part(\.connection) } + [
            OptionGroup(
                "Test",
                [
                    AddressOptions.url(for: "test").part(\.connection),
                    Option(
                        OptionNames("V", "protocol-version"), .one("VERSION", .words(["mqttv311", "mqttv5"])),
                        "The only MQTT version to test: mqttv311 (311) or mqttv5 (5). By default, both are tested.",
                        missing: "version"
                    ) { $0.version = try version($1[0]) },
                    Option(
                        OptionNames(nil, "timeout"), .one("SECONDS"),
                        "The maximum duration of each probe in seconds; 5 by default.", missing: "timeout"
                    ) { $0.timeLimit = try WholeNumber.value($1[0], in: 1...60, of: "timeout") },
                    Option(
                        OptionNames(nil, "count"), .one("COUNT"),
                        "The number of messages that each probe of message delivery sends; 10 by default. "
                            + "To an offline client, the probe sends at most 100 messages.", missing: "count"
                    ) { $0.messageCount = try WholeNumber.value($1[0], in: 1...10_000, of: "count") },
                    Option(
                        OptionNames(nil, "max-payload"), .one("BYTES"),
                        "The size of the largest payload to try in bytes; 1048576 by default.", missing: "size"
                    ) { $0.maximumPayload = try WholeNumber.value($1[0], in: 1...67_108_864, of: "payload size") },
                    Option(OptionNames(nil, "json"), "Print the results as JSON.") { settings, _ in
                        settings.isJSON = true
                    },
                ]), HelpOptions.group(),
        ]

    private static func version(_ text: String) throws(ArgumentError) -> ProtocolVersion {
        switch text {
        case "mqttv311", "311": return .v311
        case "mqttv5", "5": return .v5
        default:
            throw ArgumentError(
                "test does not support the MQTT version \"\(text)\".", hint: "Give mqttv311 or mqttv5, or omit -V.")
        }
    }
}
