package import CommandArguments
import CourierCore
import CourierMQTT

/// `courier sub`: prints messages, as mosquitto_sub does.
package struct SubscribeCommand: CourierCommand {
    package init() {}

    package var helpExitCode: Int32 { ExitCode.failure }

    package var summary: CommandSummary {
        CommandSummary(
            name: "sub", abstract: "print messages as they come",
            usage: ["[-h HOST] [-p PORT] -t FILTER [-t FILTER …] [OPTIONS]", "-L URL [-t FILTER …] [OPTIONS]"],
            discussion: [
                "Prints until it is ended by SIGINT or SIGTERM, by -C, -E or -W, or by a reader that goes away. A "
                    + "connection that is lost comes back by itself, unless trying again is of no use.",
                "The options are those of mosquitto_sub. Options are also read from $XDG_CONFIG_HOME/mosquitto_sub or "
                    + "~/.config/mosquitto_sub, one a line.",
            ],
            groups: SubscribeArguments.groups.map(\.summary),
            examples: [
                .init("courier sub -t 'room/#' -v", "Prints all messages below room, with their topics."),
                .init("courier sub -t meters/+ -C 10 -F '%I %t %p'", "Prints ten messages with the time, and ends."),
                .init("courier sub -t orders/# --json | jq .payload", "Hands messages to another program as JSON."),
                .init("courier sub -t jobs/# -q 1 -c -i worker-7", "Goes on where the last run has ended."),
                .init(
                    "courier sub -t notes --proto chat.proto --message-type chat.Note", "Prints protobuf as JSON."),
                .init("courier sub -t '#' --inspect", "Shows every packet in a browser, too."),
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
        // They are not even asked for, where that can be said.
        if settings.output.ignoresRetained { settings.connection.subscriptionOptions.retainedMessages = .never }
        let schema = try ProtobufSchema(file: settings.output.protoFile, type: settings.output.protoType)
        return try SubscribeRun(settings, schema, console).run()
    }
}
