package import CommandArguments

/// Thrown if the user requested the help text or the version instead of running the command.
package enum HelpRequest: Error, Hashable, Sendable {
    case help, version
}

/// The options `--help` and `--version`, which every command has.
package enum HelpOptions {
    /// Returns the group with both options. Each option throws a ``HelpRequest``, which stops the parsing of the
    /// command line.
    package static func group<Target>() -> OptionGroup<Target> {
        OptionGroup(
            "Help",
            [
                Option(OptionNames(nil, "help"), "Print this help.") { _, _ in throw HelpRequest.help },
                Option(OptionNames(nil, "version"), "Print the version.") { _, _ in throw HelpRequest.version },
            ])
    }
}
