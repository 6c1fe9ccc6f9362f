package import CommandArguments

/// What a command line may ask for instead of the command.
package enum HelpRequest: Error, Hashable, Sendable {
    case help, version
}

/// `--help` and `--version`, which every command has.
package enum HelpOptions {
    /// The two options; they end the reading of the command line.
    package static func group<Target>() -> OptionGroup<Target> {
        OptionGroup(
            "Help",
            [
                Option(OptionNames(nil, "help"), "Print this.") { _, _ in throw HelpRequest.help },
                Option(OptionNames(nil, "version"), "Print the version.") { _, _ in throw HelpRequest.version },
            ])
    }
}
