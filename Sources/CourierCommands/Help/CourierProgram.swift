package import CommandArguments
import CourierCore

/// The program `courier`: finds the command to run, and handles errors that occur before the command starts.
package struct CourierProgram: Sendable {
    /// The version of the program.
    package static let version = "1.0.0"

    /// The commands, in the order of the help text.
    package static let commands: [any CourierCommand] = [
        PublishCommand(), SubscribeCommand(), RequestCommand(), BrokerCommand(), ProxyCommand(), DoctorCommand(),
        TestCommand(), StoreCommand(), ChatCommand(), InspectCommand(), DemoCommand(), BenchCommand(),
    ]

    package init() {}

    /// The description of the program for help, manual page and completions.
    package static var summary: ProgramSummary {
        ProgramSummary(
            name: "courier", abstract: "MQTT client for the command line", version: version,
            discussion: [
                "courier pub, sub and rr accept the options of mosquitto_pub, mosquitto_sub and mosquitto_rr. "
                    + "These three commands also read the configuration files of the mosquitto clients. "
                    + "If there is no connection, a second line names the host and the reason. "
                    + "If the first line already names the reason, the second line is printed only on a terminal."
            ],
            commands: commands.map(\.summary))
    }

    /// Runs a command line.
    ///
    /// - Parameters:
    ///   - arguments: The arguments after the program's name.
    ///   - console: The input and output of the program.
    /// - Returns: The exit code.
    package func run(_ arguments: [String], _ console: Console) -> Int32 {
        SignalWatch.ignoreClosedPipes()
        let code = perform(arguments, console)
        console.flush()
        guard let problem = console.outputProblem else { return code }
        console.tell("Error: The output cannot be written: \(problem).")
        return code == ExitCode.success ? ExitCode.failure : code
    }

    private func perform(_ arguments: [String], _ console: Console) -> Int32 {
        guard let name = arguments.first else {
            console.writeToErrors(HelpText(Self.summary).string)
            return ExitCode.failure
        }
        if let answer = answer(name, arguments.dropFirst()) {
            console.write(answer)
            return ExitCode.success
        }
        if name == "completions" {
            console.complain("Error: The name of the shell is missing.")
            console.complain("Use 'courier completions' with bash, zsh or fish.")
            return ExitCode.failure
        }
        guard let command = Self.commands.first(where: { $0.summary.name == name }) else {
            console.complain("Error: Unknown command '\(name)'.")
            console.complain("Use 'courier --help' to see the commands.")
            return ExitCode.failure
        }
        return run(command, Array(arguments.dropFirst()), console)
    }

    private func run(_ command: any CourierCommand, _ arguments: [String], _ console: Console) -> Int32 {
        let name = command.summary.name
        do {
            return try command.run(arguments, console)
        } catch let request as HelpRequest {
            switch request {
            case .help: console.write(HelpText(command.summary, of: Self.summary).string)
            case .version: console.write("courier \(name) version \(Self.version)\n")
            }
            return command.helpExitCode
        } catch let error as ArgumentError {
            console.complain("Error: \(error.message)" + String(repeating: "\n", count: error.blankLines))
            console.complain(error.hint ?? Self.usage(of: name))
        } catch let failure as StartFailure {
            for line in failure.lines { console.tell(line) }
            if let explanation = failure.explanation { console.explain(explanation) }
            if failure.showsUsage { console.complain("\n" + Self.usage(of: name)) }
        } catch let error as CourierError {
            console.complain("Error: \(error.message)")
        } catch {
            console.complain("Error: \(error)")
        }
        return ExitCode.failure
    }

    private static func usage(of command: String) -> String { "Use 'courier \(command) --help' to see usage." }

    /// Returns the output of an option of the program itself, such as `--version`, or `nil` if the arguments name a
    /// command.
    private func answer(_ name: String, _ rest: ArraySlice<String>) -> String? {
        switch name {
        case "--help", "-h", "help":
            guard let topic = rest.first,
                let command = Self.commands.first(where: { $0.summary.name == topic })
            else { return HelpText(Self.summary).string }
            return HelpText(command.summary, of: Self.summary).string
        case "--version": return "courier version \(Self.version)\n"
        case "--generate-man": return ManualPage(Self.summary).string
        case "--generate-option-table": return MosquittoOptions(Self.commands.map(\.summary)).markdown
        case "completions":
            return rest.first.flatMap(Shell.init(rawValue:)).map { Completions(Self.summary, $0).string }
        default: return nil
        }
    }
}
