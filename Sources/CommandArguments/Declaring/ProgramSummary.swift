/// The description of a program with commands, from which its help, manual page and shell completions are generated.
package struct ProgramSummary: Hashable, Sendable {
    /// The name of the program.
    package var name: String

    /// The purpose of the program, as a phrase without a period.
    package var abstract: String

    /// The version of the program.
    package var version: String

    /// Paragraphs with more details about the program.
    package var discussion: [String]

    /// The commands, in the order in which help shows them.
    package var commands: [CommandSummary]

    /// Creates the description of a program.
    ///
    /// - Parameters:
    ///   - name: The name of the program.
    ///   - abstract: The purpose of the program, as a phrase without a period.
    ///   - version: The version of the program.
    ///   - discussion: Paragraphs with more details; none by default.
    ///   - commands: The commands, in the order in which help shows them.
    package init(
        name: String, abstract: String, version: String, discussion: [String] = [], commands: [CommandSummary]
    ) {
        self.name = name
        self.abstract = abstract
        self.version = version
        self.discussion = discussion
        self.commands = commands
    }
}
