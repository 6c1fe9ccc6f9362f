package import CommandArguments
import CourierCore
import CourierTransport

/// The command `courier doctor`: finds out why a broker cannot be reached, or how well the connection works.
package struct DoctorCommand: CourierCommand {
    package init() {}

    package var summary: CommandSummary {
        CommandSummary(
            name: "doctor", abstract: "find out why a broker cannot be reached",
            usage: ["[-h HOST] [-p PORT] [-u NAME -P PASSWORD] [--cafile FILE] [OPTIONS]"],
            discussion: [
                "Looks up the name, connects to each address, checks TLS, and connects with MQTT 5 and 3.1.1. Then doctor "
                    + "prints the broker's limits and round-trip times, or the problem and what to do.",
                "No session stays on the broker, and no message is published without --publish.",
            ],
            groups: DoctorArguments.groups.map(\.summary),
            examples: [
                .init("courier doctor -h broker.example", "Looks at a broker without TLS."),
                .init(
                    "courier doctor -h broker.example -p 8883 -u ada -P secret",
                    "Checks a broker with TLS, and whether a user may connect."),
                .init("courier doctor --publish -n 100 --json", "Measures a hundred messages, for a program to read."),
            ],
            exitCodes: [
                .init("0", "The broker can be used."),
                .init("1", "The command line is wrong, the name has no address, or nothing answers."),
                .init(
                    "2",
                    "The server is no MQTT broker, or the broker ends the connection or refuses the messages of --publish."
                ),
                .init("5", "The broker refuses this client, or all clients for now."), .init("8", "TLS failed."),
            ])
    }

    package func run(_ arguments: [String], _ console: Console) throws -> Int32 {
        var settings = DoctorArguments()
        try ArgumentReader(DoctorArguments.groups).read(arguments, into: &settings)
        try settings.connection.check()
        let isJSON = settings.isJSON
        var examination = try Examination(settings) { finding in
            if isJSON { return }
            console.write(DoctorReport.lines(finding, hasColours: console.hasColours))
            console.flush()
        }
        let record = examination.run()
        let options = settings.connection.connectOptions
        let place = settings.connection.unixPath ?? "\(options.host):\(options.port)"
        console.write(isJSON ? try DoctorReport.json(record, place: place) : DoctorReport.summary(record))
        return record.problem?.check.exitCode ?? ExitCode.success
    }
}
