package import CommandArguments
import CourierCore
import CourierTransport

/// The command `courier doctor`: finds out why a broker cannot be reached, or how well the connection works.
package struct DoctorCommand: CourierCommand {
    package init() {}

    package var summary: CommandSummary {
        CommandSummary(
            name: "doctor", abstract: "find out what is wrong between here and a broker",
            usage: ["[-h HOST] [-p PORT] [-u NAME -P PASSWORD] [--cafile FILE] [OPTIONS]"],
            discussion: [
                "Looks the name up, connects to each of its addresses, speaks TLS, and connects by MQTT 5 and 3.1.1. Then "
                    + "it says what the broker allows and how long it takes to answer, or what is wrong and what to do.",
                "It leaves nothing behind on the broker: no session, and no message unless --publish asks for some.",
            ],
            groups: DoctorArguments.groups.map(\.summary),
            examples: [
                .init("courier doctor -h broker.example", "Looks at a broker without TLS."),
                .init(
                    "courier doctor -h broker.example -p 8883 -u ada -P secret",
                    "Looks at one with TLS, and at whether a user may connect."),
                .init("courier doctor --publish -n 100 --json", "Measures a hundred messages, for a program to read."),
            ],
            exitCodes: [
                .init("0", "The broker can be used."),
                .init("1", "The command line is wrong, the name has no address, or nothing answers there."),
                .init(
                    "2",
                    "No MQTT is spoken there, or the broker breaks it off, or refuses the messages of --publish."),
                .init("5", "The broker does not let this client in, or nobody for now."), .init("8", "TLS failed."),
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
