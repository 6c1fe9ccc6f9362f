package import CommandArguments

/// One of the commands of the program `courier`.
package protocol CourierCommand: Sendable {
    /// The description of the command for help, manual page and completions.
    var summary: CommandSummary { get }

    /// The exit code of `--help` and `--version`: 0 by default, and 1 for the commands whose mosquitto client exits
    /// with 1.
    var helpExitCode: Int32 { get }

    /// Runs the command on the main thread.
    ///
    /// - Parameters:
    ///   - arguments: The arguments after the command's name.
    ///   - console: The input and output of the command.
    /// - Returns: The exit code.
    /// - Throws: ``HelpRequest`` or ``ArgumentError``, which the program handles. Any other error is printed as one
    ///   line.
    func run(_ arguments: [String], _ console: Console) throws -> Int32
}

extension CourierCommand {
    package var helpExitCode: Int32 { ExitCode.success }
}
