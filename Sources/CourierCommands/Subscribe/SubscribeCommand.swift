package import CommandArguments
import CourierCore
import CourierMQTT

/// The command `courier sub`: prints messages, as mosquitto_sub does.
package struct SubscribeCommand: CourierCommand {
    package init() {}

    package var helpExitCode: Int32 { ExitCode.failure }

    package var summary: CommandSummary {
        CommandSummary(
            name: "sub", abstract: "print messages as they arrive",
            usage: ["[-h HOST] [-p PORT] -t FILTER [-t FILTER …] [OPTIONS]", "-L URL [-t FILTER …] [OPTIONS]"],
            discussion: [
                "Prints messages until SIGINT, SIGTERM, -C, -E or -W ends the program, or its output is closed. "
                    + "After a lost connection, the program connects again if another attempt can succeed.",
                "The options are the same as in mosquitto_sub, and can also be in a file, one option per line. "
                    + "The file is $XDG_CONFIG_HOME/mosquitto_sub or ~/.config/mosquitto_sub.",
            ],
            groups: SubscribeArguments.groups.map(\.summary),
            examples: [
                .init(
                    "courier sub -t 'room/#' -v",
                    "Prints the topic and the payload of each message that matches the filter room/#."),
                .init("courier sub -t meters/+ -C 10 -F '%I %t %p'", "Prints ten messages with their time, and ends."),
                .init("courier sub -t orders/# --json | jq .payload", "Passes messages to another program as JSON."),
                .init("courier sub -t jobs/# -q 1 -c -i worker-7", "Continues the session of the last run."),
                .init(
                    "courier sub -t notes --proto chat.proto --message-type chat.Note",
                    "Prints Protobuf messages as JSON."),
                .init("courier sub -t '#' --inspect", "Also shows every packet in a browser."),
            ], exitCodes: ExitCode.meanings)
    }

    package func run(_ arguments: [String], _ console: Console) throws -> Int32 {
        var settings = SubscribeArguments()
        try PublishCommand.read(
            arguments, ArgumentReader(SubscribeArguments.groups), into: &settings, \.connection, console)
        if settings.connection.isQuiet { console.beQuiet() }
        try settings.connection.checkUsage()
        guard !settings.connection.topics.isEmpty || !settings.unwantedTopics.isEmpty else {
            throw ArgumentError("You must specify a topic to subscribe to.")
        }
        try settings.connection.checkProperties()
        if settings.output.ignoresRetained, settings.isRetainedOnly {
            console.complain("\nError: Combining '-R' and '--retained-only' makes no sense.")
            return ExitCode.failure
        }
        try settings.connection.checkStart()
        try settings.connection.checkSetup()
        // If retained messages are ignored, the subscription also asks the broker not to send them.
        if settings.output.ignoresRetained { settings.connection.subscriptionOptions.retainedMessages = .never }
        let schema = try ProtobufSchema(file: settings.output.protoFile, type: settings.output.protoType)
        return try SubscribeRun(settings, schema, console).run()
    }
}
