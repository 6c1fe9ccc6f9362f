/// What help, manual page and completions say of a command.
package struct CommandSummary: Hashable, Sendable {
    /// A command line, and what it does.
    package struct Example: Hashable, Sendable {
        /// What is typed.
        package let line: String
        /// What it does, as a sentence.
        package let meaning: String

        /// Joins the two.
        ///
        /// - Parameters:
        ///   - line: What is typed.
        ///   - meaning: What it does.
        package init(_ line: String, _ meaning: String) {
            self.line = line
            self.meaning = meaning
        }
    }

    /// A number with which it ends, and what that means.
    package struct ExitCode: Hashable, Sendable {
        /// The number, or several as a text.
        package let code: String
        /// What it means, as half a sentence.
        package let meaning: String

        /// Joins the two.
        ///
        /// - Parameters:
        ///   - code: The number.
        ///   - meaning: What it means.
        package init(_ code: String, _ meaning: String) {
            self.code = code
            self.meaning = meaning
        }
    }

    /// Its name, as it is typed behind the program's.
    package var name: String

    /// What it does, as half a sentence for a list: `prints messages as they come`.
    package var abstract: String

    /// What can be typed behind the name, a line each.
    package var usage: [String]

    /// Paragraphs that say more.
    package var discussion: [String]

    /// Its options.
    package var groups: [OptionGroupSummary]

    /// What it is used for.
    package var examples: [Example]

    /// Its exit codes where it has more than its program; none by default.
    package var exitCodes: [ExitCode]

    /// Collects what is known of a command.
    ///
    /// - Parameters:
    ///   - name: Its name.
    ///   - abstract: What it does, as half a sentence.
    ///   - usage: What can be typed behind the name, a line each.
    ///   - discussion: Paragraphs that say more; none by default.
    ///   - groups: Its options; none by default.
    ///   - examples: What it is used for; none by default.
    ///   - exitCodes: Its exit codes; none by default.
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

    /// All options, without their groups.
    package var options: [OptionSummary] { groups.flatMap(\.options) }
}
