package import CommandArguments

/// The command-line options for the messages to send.
package struct PayloadArguments: Sendable {
    /// The source of the messages.
    package enum Source: Hashable, Sendable {
        case text(String)
        case file(String)
        case nothing
        case input
        case lines
    }

    package var source: Source?
    /// The path of the `.proto` file that `--proto` names; `nil` without `--proto`.
    package var protoFile: String?
    /// The message type that `--message-type` names; `nil` without that option.
    package var protoType: String?
    /// Whether messages must be JSON.
    package var isJSON = false

    package init() {}

    private mutating func use(_ source: Source) throws(ArgumentError) {
        guard self.source == nil else {
            throw ArgumentError("Only one type of message can be sent at once.", blankLines: 2)
        }
        self.source = source
    }

    /// The options of every command that sends messages.
    package static let options: [Option<PayloadArguments>] = [
        Option(OptionNames("m", "message"), .one("TEXT"), "Send this text.", missing: "message") {
            try $0.use(.text($1[0]))
        },
        Option(OptionNames("f", "file"), .one("FILE", .files), "Send the contents of this file.", missing: "file") {
            try $0.use(.file($1[0]))
        },
        Option(OptionNames("s", "stdin-file"), "Send all of standard input as one message.") { settings, _ in
            try settings.use(.input)
        },
        Option(
            OptionNames("n", "null-message"), "Send an empty message. With -r, it removes the retained message."
        ) { settings, _ in try settings.use(.nothing) },
    ]

    /// The option `-l`, which only `pub` has.
    package static let lines = Option<PayloadArguments>(
        OptionNames("l", "stdin-line"), "Send each line of standard input as a separate message."
    ) { settings, _ in try settings.use(.lines) }

    /// The options that convert or check JSON.
    package static let formats: [Option<PayloadArguments>] = [
        Option(
            OptionNames(nil, "proto"), .one("FILE", .files),
            "Encode messages from JSON to Protobuf with the types in this .proto file.", missing: "file"
        ) { $0.protoFile = $1[0] },
        Option(
            OptionNames(nil, "message-type"), .one("TYPE"),
            "The full name of the message type, such as chat.Note. "
                + "If the .proto file has only one message type, this option may be omitted.",
            missing: "type"
        ) { $0.protoType = $1[0] },
        Option(
            OptionNames(nil, "json"),
            "Refuse messages that are not JSON. Send JSON with the content type application/json (MQTT 5)."
        ) { settings, _ in settings.isJSON = true },
    ]
}
