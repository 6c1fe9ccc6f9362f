package import CommandArguments
import CourierMQTTChuck
import CourierMQTTChuckWeb
import Dispatch
import Foundation

/// The command `courier inspect`: searches, shows and converts recorded packets.
package struct InspectCommand: CourierCommand {
    package init() {}

    package var summary: CommandSummary {
        CommandSummary(
            name: "inspect", abstract: "browse, search and convert recorded packets",
            usage: [
                "FILE [-q QUERY] [--export text|jsonl|pcapng] [-o FILE]", "FILE --row NUMBER",
                "FILE [-q QUERY] --slowest NUMBER [-o FILE]",
                "FILE --serve [-p PORT]",
            ],
            discussion: [
                "FILE is a recording as JSON Lines, exported by MQTTChuckLogger or by the web page of --inspect. "
                    + "FILE can also be an archive of MQTTChuckArchive, even while a program writes to the archive. "
                    + "inspect does not change the file.",
                "On a terminal, inspect opens a view of the packets. Arrow keys select a packet, and Enter shows it. "
                    + "/ filters the packets, ? lists the other keys, and q ends the program. "
                    + "When the program ends, even after a signal or a crash, it restores the terminal. "
                    + "New packets of an archive appear in the view, and on the web page of --serve. "
                    + "If the output is not a terminal, or with --export text, inspect prints one line per packet.",
                "A query is a list of conditions that must all be true: \(MQTTChuckQuery.help).",
            ],
            groups: InspectArguments.groups.map(\.summary),
            examples: [
                .init("courier inspect run.archive", "Browses the packets, even while they are recorded."),
                .init(
                    "courier inspect run.jsonl -q 'type:publish topic:orders/# qos:>0' --export text",
                    "Prints PUBLISH packets with QoS 1 or 2 whose topic matches the filter orders/#."),
                .init("courier inspect run.archive -q errors", "Shows the packets that report a failure."),
                .init(
                    "courier inspect run.archive -q type:publish --slowest 10",
                    "Prints the ten messages that waited longest for their acknowledgement."),
                .init(
                    "courier inspect run.archive --export pcapng -o run.pcapng",
                    "Writes a capture file for Wireshark."),
                .init("courier inspect run.jsonl --serve", "Shows the whole recording on a web page."),
            ],
            exitCodes: [
                .init("0", "Done."),
                .init("1", "The command line is wrong, or the file is missing or is not a recording."),
                .init("129, 130, 143", "A signal ended the program."),
            ])
    }

    package func run(_ arguments: [String], _ console: Console) throws -> Int32 {
        var settings = InspectArguments()
        try ArgumentReader(InspectArguments.groups, operands: .accepted { try $0.take($1) })
            .read(arguments, into: &settings)
        let path = try settings.checked()
        if settings.format == .pcapng, settings.outputPath == nil, console.isOutputTerminal {
            throw ArgumentError("A pcapng capture cannot be printed on a terminal.", hint: "Add -o FILE.")
        }
        let recording = try Recording(of: path)
        if settings.isServed { return try serve(recording, settings.port ?? 0, console) }
        if let row = settings.row { return try show(row, of: recording.logger, console) }
        if settings.format == nil, settings.outputPath == nil, settings.slowest == nil,
            TerminalScreen.isPossible(on: console)
        {
            return try MainActor.assumeIsolated {
                try InspectRun.run(recording, name: path, query: settings.query, console)
            }
        }
        let target = try ExportTarget(settings.outputPath, of: path, console)
        do {
            if let slowest = settings.slowest {
                try recording.logger.exportSlowest(slowest, matching: settings.query) {
                    try target.write(Data($0.utf8))
                }
            } else {
                try recording.logger.export(settings.format ?? .text, matching: settings.query) { try target.write($0) }
            }
        } catch is ExportTarget.Closed {
            // A closed output is not an error, because the program that reads the output, such as `head`, may need no
            // more lines.
        }
        return ExitCode.success
    }

    private func serve(_ recording: Recording, _ port: UInt16, _ console: Console) throws -> Int32 {
        let server = try recording.logger.serve(port: port)
        recording.follow()
        let ending = Ending()
        let signals = SignalWatch(SystemSignal.endings, on: DispatchQueue(label: "courier.inspect.signals")) { _ in
            ending.end(ExitCode.success)
        }
        console.write("\(recording.logger.summary.rowCount) packets: \(server.url.absoluteString)\n")
        console.flush()
        return withExtendedLifetime(signals) {
            let code = ending.wait()
            recording.stopFollowing()
            server.stop()
            return code
        }
    }

    private func show(_ number: UInt64, of logger: MQTTChuckLogger, _ console: Console) throws -> Int32 {
        guard let details = logger.details(of: number) else {
            let summary = logger.summary
            throw ArgumentError(
                "There is no packet \(number).",
                hint: summary.rowCount == 0
                    ? "The file has no packets."
                    : "The file has the packets \(summary.firstRow) to \(summary.nextRow - 1).")
        }
        console.write(PacketText(details).string)
        return ExitCode.success
    }
}
