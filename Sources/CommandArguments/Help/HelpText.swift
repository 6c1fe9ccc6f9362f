/// The text that `--help` prints.
package struct HelpText: Hashable, Sendable {
    /// The width of the text, in characters.
    static let width = 100
    /// The column at which the description of an option or command starts.
    private static let column = 30

    /// The text.
    package let string: String

    /// Creates the help of a program, with a list of its commands.
    ///
    /// - Parameter program: The description of the program.
    package init(_ program: ProgramSummary) {
        var lines = ["\(program.name) \(program.version): \(program.abstract).", ""]
        lines += ["Usage: \(program.name) COMMAND [OPTIONS]", ""]
        for paragraph in program.discussion { lines += TextWrap.lines(paragraph, width: Self.width) + [""] }
        lines.append("Commands:")
        for command in program.commands { lines += Self.entry(command.name, command.abstract) }
        lines += ["", "Examples:"]
        for command in program.commands { lines += command.examples.prefix(1).flatMap(Self.example) }
        lines += [
            "",
            "'\(program.name) COMMAND --help' prints the help of a command.",
            "'\(program.name) completions SHELL' prints shell completions for bash, zsh or fish.",
            "'\(program.name) --generate-man' prints the manual page.",
        ]
        string = lines.joined(separator: "\n") + "\n"
    }

    /// Creates the help of a command, with its options by group and its examples.
    ///
    /// - Parameters:
    ///   - command: The description of the command.
    ///   - program: The description of the program that the command belongs to.
    package init(_ command: CommandSummary, of program: ProgramSummary) {
        let name = "\(program.name) \(command.name)"
        var lines = ["\(name): \(command.abstract).", ""]
        for (index, usage) in command.usage.enumerated() {
            lines.append("\(index == 0 ? "Usage:" : "      ") \(name) \(usage)")
        }
        lines.append("")
        for paragraph in command.discussion { lines += TextWrap.lines(paragraph, width: Self.width) + [""] }
        for group in command.groups {
            lines.append("\(group.title):")
            for option in group.options { lines += Self.entry(Self.aligned(option), option.text) }
            lines.append("")
        }
        if !command.examples.isEmpty {
            lines.append("Examples:")
            lines += command.examples.flatMap(Self.example)
        }
        string = lines.joined(separator: "\n") + "\n"
    }

    /// Returns the spelling of an option. An option without a letter is indented, so that the words of all options
    /// align.
    private static func aligned(_ option: OptionSummary) -> String {
        option.names.letter == nil ? "    \(option.spelling)" : option.spelling
    }

    private static func entry(_ name: String, _ text: String) -> [String] {
        let lines = TextWrap.lines(text, width: width - column)
        let indent = String(repeating: " ", count: column)
        let head = "  \(name)"
        guard head.count + 2 <= column, let first = lines.first else { return [head] + lines.map { indent + $0 } }
        return [head + String(repeating: " ", count: column - head.count) + first]
            + lines.dropFirst().map { indent + $0 }
    }

    private static func example(_ example: CommandSummary.Example) -> [String] {
        ["  \(example.line)", "      \(example.meaning)"]
    }
}
