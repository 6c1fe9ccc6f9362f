/// What help, manual page and completions say of a program with commands.
package struct ProgramSummary: Hashable, Sendable {
    /// Its name.
    package var name: String

    /// What it does, as half a sentence.
    package var abstract: String

    /// Its version.
    package var version: String

    /// Paragraphs that say more.
    package var discussion: [String]

    /// Its commands, in the order of help.
    package var commands: [CommandSummary]

    /// Collects what is known of a program.
    ///
    /// - Parameters:
    ///   - name: Its name.
    ///   - abstract: What it does, as half a sentence.
    ///   - version: Its version.
    ///   - discussion: Paragraphs that say more; none by default.
    ///   - commands: Its commands.
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
