/// The description of a command, from which its help, manual page and shell completions are generated.
package struct CommandSummary: Hashable, Sendable {
    /// An example command line and its meaning.
    package struct Example: Hashable, Sendable {
        /// The command line that the user types.
        package let line: String
        /// The effect of the command line, as a sentence.
        package let meaning: String

        /// Creates an example.
        ///
        /// - Parameters:
        ///   - line: The command line that the user types.
        ///   - meaning: The effect of the command line, as a sentence.
        package init(_ line: String, _ meaning: String) {
            self.line = line
            self.meaning = meaning
        }
    }

    /// An exit code of the command and its meaning.
    package struct ExitCode: Hashable, Sendable {
        /// The number, or a text that lists several numbers.
        package let code: String
        /// The meaning of the code, as a phrase without a period.
        package let meaning: String

        /// Creates an exit code.
        ///
        /// - Parameters:
        ///   - code: The number, or a text that lists several numbers.
        ///   - meaning: The meaning of the code, as a phrase without a period.
        package init(_ code: String, _ meaning: String) {
            self.code = code
            self.meaning = meaning
        }
    }

    /// The command name, which the user types after the program's name.
    package var name: String

    /// The effect of the command, as a phrase for a list: `prints messages as they come`.
    package var abstract: String

    /// The usage lines: each line shows arguments that may follow the command name.
    package var usage: [String]

    /// Paragraphs with more details about the command.
    package var discussion: [String]

    /// The option groups of the command.
    package var groups: [OptionGroupSummary]

    /// Example command lines.
    package var examples: [Example]

    /// The exit codes that this command has in addition to the program's exit codes; none by default.
    package var exitCodes: [ExitCode]

    /// Creates the description of a command.
    ///
    /// - Parameters:
    ///   - name: The command name.
    ///   - abstract: The effect of the command, as a phrase.
    ///   - usage: The usage lines: arguments that may follow the command name.
    ///   - discussion: Paragraphs with more details; none by default.
    ///   - groups: The option groups; none by default.
    ///   - examples: Example command lines; none by default.
    ///   - exitCodes: The additional exit codes; none by default.
    package init(
        name: String, abstract: String, usage: [String], discussion: [String] = [],
        groups: [OptionGroupSummary] = [], examples: [Example] = [], exitCodes: [ExitCode] = []
    ) {
        self.name = name
        self.abstract = abstract
        self.usage = usage
        self.discussion = discussion
        self.groups = groups
        self.examples = examples
        self.exitCodes = exitCodes
    }

    /// The options of all groups, as one list.
    package var options: [OptionSummary] { groups.flatMap(\.options) }
}
