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
                "doctor looks up the name, connects to each address, checks TLS, and connects with MQTT 5 and 3.1.1. "
                    + "Then doctor prints the broker's limits and round-trip times, or the problem and advice.",
                "doctor leaves no session on the broker, and publishes messages only with --publish.",
            ],
            groups: DoctorArguments.groups.map(\.summary),
            examples: [
                .init("courier doctor -h broker.example", "Examines a broker without TLS."),
                .init(
                    "courier doctor -h broker.example -p 8883 -u ada -P secret",
                    "Examines a broker with TLS, and checks whether a user may connect."),
                .init(
                    "courier doctor --publish -n 100 --json",
                    "Measures the round trips of a hundred messages, and prints JSON."),
            ],
            exitCodes: [
                .init("0", "The broker can be used."),
                .init("1", "The command line is wrong, the name has no address, or no server answers."),
                .init(
                    "2",
                    "The server is not an MQTT broker, or the broker ends the connection or refuses messages."
                ),
                .init("5", "The broker refuses this client, or it temporarily refuses all clients."),
                .init("8", "TLS failed."),
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
        let place = settings.connection.shownPlace
        console.write(isJSON ? try DoctorReport.json(record, place: place) : DoctorReport.summary(record))
        return record.problem?.check.exitCode ?? ExitCode.success
    }
}
