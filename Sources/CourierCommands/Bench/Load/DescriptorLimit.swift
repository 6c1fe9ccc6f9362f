import CommandArguments

/// The limit of open files of this process. Each connection needs one open file.
enum DescriptorLimit {
    /// The number of open files that the program needs besides its connections.
    private static let reserve = 32

    /// Returns the number of open files that a run needs. An attempt to connect may open a second socket.
    ///
    /// - Parameter clients: The number of clients.
    /// - Returns: The number of open files.
    static func needed(for clients: Int) -> Int { clients + min(clients, AttemptSchedule.limit) + reserve }

    /// Raises the soft limit of this process to its hard limit if the clients need more open files.
    ///
    /// - Parameter clients: The number of clients.
    /// - Throws: ``ArgumentError`` with the needed number if the hard limit is too small.
    static func raise(for clients: Int) throws(ArgumentError) {
        let needed = needed(for: clients)
        guard let limit = OpenFileLimit.raise(to: needed) else { return }
        throw ArgumentError(
            "\(clients) clients need \(needed) open files, but this process may open only \(limit).",
            hint: "Raise the limit with the command: ulimit -n \(needed)")
    }
}
