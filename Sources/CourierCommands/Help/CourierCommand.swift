package import CommandArguments

/// One of the commands of `courier`.
package protocol CourierCommand: Sendable {
    /// What help says of it.
    var summary: CommandSummary { get }

    /// Does it, on the main thread.
    ///
    /// - Parameters:
    ///   - arguments: What stands behind the command's name.
    ///   - console: What it reads and writes.
    /// - Returns: The exit code.
    /// - Throws: ``HelpRequest`` and ``ArgumentError``, which the program answers; any other error is printed as one line.
    func run(_ arguments: [String], _ console: Console) throws -> Int32
}
