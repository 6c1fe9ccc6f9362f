package import CommandArguments
import CourierMQTTChuck
import CourierMQTTChuckWeb
import Dispatch
import Foundation
import Glibc

/// `courier inspect`: searches, shows and converts recorded packets.
package struct InspectCommand: CourierCommand {
    package init() {}

    package var summary: CommandSummary {
        CommandSummary(
            name: "inspect", abstract: "search, show and convert recorded packets",
            usage: [
                "FILE [-q QUERY] [--export text|jsonl|pcapng] [-o FILE]", "FILE --row NUMBER",
                "FILE --serve [-p PORT]",
            ],
            discussion: [
                "FILE is a recording as JSON Lines, as MQTTChuckLogger and the page of --inspect export it, or an archive of "
                    + "MQTTChuckArchive, also one that a program is writing. It is not changed.",
                "A query is words that must all hold: \(MQTTChuckQuery.help).",
            ],
            groups: InspectArguments.groups.map(\.summary),
            examples: [
                .init("courier inspect run.jsonl -q 'type:publish topic:orders/# qos:>0'", "Prints the orders."),
                .init("courier inspect run.archive -q errors", "Prints what went wrong."),
                .init("courier inspect run.archive --export pcapng -o run.pcapng", "Makes a capture for Wireshark."),
                .init("courier inspect run.jsonl --serve", "Shows all of it on a page for the browser."),
            ],
            exitCodes: [
                .init("0", "Done."), .init("1", "The command line is wrong, or the file is missing or no recording."),
            ])
    }

    package func run(_ arguments: [String], _ console: Console) throws -> Int32 {
        var settings = InspectArguments()
        try ArgumentReader(InspectArguments.groups, operands: .accepted { try $0.take($1) })
            .read(arguments, into: &settings)
        let path = try settings.checked()
        if settings.format == .pcapng, settings.outputPath == nil, console.isOutputTerminal {
            throw ArgumentError("A capture is not for the terminal.", hint: "Add -o FILE.")
        }
        let logger = try Recording.logger(of: path)
        if settings.isServed { return try serve(logger, settings.port ?? 0, console) }
        if let row = settings.row { return try show(row, of: logger, console) }
        let target = try ExportTarget(settings.outputPath, console)
        do {
            try logger.export(settings.format ?? .text, matching: settings.query) { try target.write($0) }
        } catch is ExportTarget.Closed {
            // Whoever wanted only the beginning has it.
        }
        return ExitCode.success
    }

    private func serve(_ logger: MQTTChuckLogger, _ port: UInt16, _ console: Console) throws -> Int32 {
        let server = try logger.serve(port: port)
        let ending = Ending()
        let signals = SignalWatch([SIGINT, SIGTERM], on: DispatchQueue(label: "courier.inspect.signals")) { _ in
            ending.end(ExitCode.success)
        }
        console.write("\(logger.summary.rowCount) packets: \(server.url.absoluteString)\n")
        console.flush()
        return withExtendedLifetime(signals) {
            let code = ending.wait()
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
                    ? "The file has none." : "The file has \(summary.firstRow) to \(summary.nextRow - 1).")
        }
        console.write(PacketText(details).string)
        return ExitCode.success
    }
}
