package import CommandArguments

/// One of the commands of `courier`.
package protocol CourierCommand: Sendable {
    /// What help says of it.
    var summary: CommandSummary { get }

    /// The exit code of `--help` and `--version`: 0 by default, and 1 where the mosquitto clients exit with 1.
    var helpExitCode: Int32 { get }

    /// Does it, on the main thread.
    ///
    /// - Parameters:
    ///   - arguments: What stands behind the command's name.
    ///   - console: What it reads and writes.
    /// - Returns: The exit code.
    /// - Throws: ``HelpRequest`` and ``ArgumentError``, which the program answers; any other error is printed as one line.
    func run(_ arguments: [String], _ console: Console) throws -> Int32
}

extension CourierCommand {
    package var helpExitCode: Int32 { ExitCode.success }
}
