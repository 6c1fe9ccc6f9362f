package import CommandArguments
import CourierCore
import Foundation

/// The command `courier pub`: publishes messages, as mosquitto_pub does.
package struct PublishCommand: CourierCommand {
    package init() {}

    package var helpExitCode: Int32 { ExitCode.failure }

    package var summary: CommandSummary {
        CommandSummary(
            name: "pub", abstract: "publish messages",
            usage: [
                "[-h HOST] [-p PORT] -t TOPIC (-m TEXT | -f FILE | -s | -n | -l) [OPTIONS]",
                "-L URL (-m TEXT | …) [OPTIONS]",
            ],
            discussion: [
                "The program ends when the last message is acknowledged, or written if it has QoS 0. "
                    + "After SIGINT or SIGTERM, the program sends no new messages. "
                    + "The program waits up to \(Ending.drainTimeout.components.seconds) seconds for acknowledgements. "
                    + "With --store and without a connection, a signal ends the program at once. "
                    + "The next run sends the stored messages.",
                "The options are the same as in mosquitto_pub, and can also be in a file, one option per line. "
                    + "The file is $XDG_CONFIG_HOME/mosquitto_pub or ~/.config/mosquitto_pub.",
            ],
            groups: PublishArguments.groups.map(\.summary),
            examples: [
                .init("courier pub -t room/7/light -m on", "Sends one message to the broker on this machine."),
                .init(
                    "courier pub -h broker.example -t meters/3 -m 21.5 -q 1 -r",
                    "Sends a message that the broker keeps (retained)."),
                .init("courier pub -L mqtts://ada:secret@broker.example/notes -f note.txt", "Sends a file over TLS."),
                .init("seq 100000 | courier pub -t numbers -l -q 1", "Sends each line as a message."),
                .init(
                    "courier pub -t notes -q 1 -m 'not lost' -i desk --store notes.courier",
                    "Sends a message that survives kill -9. The next run with the same file delivers the message."),
                .init(
                    "courier pub -t notes --proto chat.proto --message-type chat.Note -m '{\"text\":\"hi\"}'",
                    "Sends a Protobuf message that is written as JSON."),
            ], exitCodes: ExitCode.meanings)
    }

    package func run(_ arguments: [String], _ console: Console) throws -> Int32 {
        var settings = PublishArguments()
        try Self.read(arguments, ArgumentReader(PublishArguments.groups), into: &settings, \.connection, console)
        if settings.connection.isQuiet { console.beQuiet() }
        try settings.connection.checkUsage()
        try settings.connection.checkProperties()
        let encoder = try PayloadEncoder(settings.payload)
        let payload = try settings.payload.source.map { try Payload($0, console) } ?? .missing
        guard let topic = settings.connection.topics.last, payload != .missing else {
            console.complain("Error: Both topic and message must be supplied.")
            console.write(HelpText(summary, of: CourierProgram.summary).string)
            return ExitCode.failure
        }
        try settings.connection.checkStart()
        try settings.connection.checkSetup()
        let run = try PublishRun(settings, topic, payload, encoder, console)
        return try run.run()
    }

    /// Applies the options in the configuration file, and then the options on the command line.
    static func read<Target>(
        _ arguments: [String], _ reader: ArgumentReader<Target>, into target: inout Target,
        _ connection: KeyPath<Target, ConnectionArguments>, _ console: Console
    ) throws {
        // The command line is parsed twice. The first parse finds the name of the configuration file. A full parse is
        // necessary, because only the full parse distinguishes options from values.
        var first = target
        try reader.read(arguments, into: &first)
        let file = try ConfigurationFile(
            at: first[keyPath: connection].optionsFile, orNamed: target[keyPath: connection].role.fileName,
            in: console.environment)
        for line in file.lines { try reader.read(line, into: &target) }
        guard target[keyPath: connection].optionsFile == nil else {
            throw ArgumentError("An options file cannot name another options file with -o.")
        }
        try reader.read(arguments, into: &target)
    }
}
