package import CommandArguments

/// The command-line options that decide how received messages are printed.
package struct OutputArguments: Sendable {
    package var format: MessageFormat?
    package var isVerbose = false
    package var endsLines = true
    package var isPretty = false
    package var isJSON = false
    package var ignoresRetained = false
    package var protoFile: String?
    package var protoType: String?

    package init() {}

    /// The options of every command that prints messages.
    package static let options: [Option<OutputArguments>] = [
        Option(
            OptionNames("F"), .one("FORMAT"),
            "The format of printed messages: %t topic, %p payload, %x payload in hexadecimal, %l payload length. "
                + "Other fields: %q QoS, %r retained, %m packet id, %j and %J JSON, and %I, %U and @… time. "
                + "The fields %C %D %E %F %P %R are MQTT 5 properties. %F prints 1 for UTF-8, and otherwise nothing. "
                + "Flags, width and precision are as in printf.",
            missing: "format"
        ) { $0.format = try MessageFormat($1[0]) },
        Option(OptionNames("v", "verbose"), "Print the topic before the message.") { settings, _ in
            settings.isVerbose = true
        },
        Option(OptionNames("N"), "Do not print a line break after a message.") { settings, _ in
            settings.endsLines = false
        },
        Option(OptionNames("R"), "Do not print retained messages.") { settings, _ in settings.ignoresRetained = true },
        Option(OptionNames(nil, "pretty"), "Print JSON over several lines.") { settings, _ in
            settings.isPretty = true
        },
        Option(
            OptionNames(nil, "json"),
            "Print each message with its details as one line of JSON. "
                + "A payload that is not JSON is printed as text or Base64."
        ) { settings, _ in settings.isJSON = true },
        Option(
            OptionNames(nil, "proto"), .one("FILE", .files),
            "Decode payloads as Protobuf with the types in this .proto file, and print them as JSON.", missing: "file"
        ) { $0.protoFile = $1[0] },
    ]

    /// Returns a printer that follows these options.
    package func printer(_ console: Console) -> MessagePrinter {
        var printer = MessagePrinter()
        printer.format = format ?? (isJSON ? .json : nil)
        printer.isVerbose = isVerbose
        printer.endsLines = endsLines
        printer.isPretty = isPretty
        printer.takesAnyPayload = isJSON && format == nil
        printer.hasColours = console.hasColours
        return printer
    }
}
