/// The description of an option for help, manual page and shell completions.
package struct OptionSummary: Hashable, Sendable {
    /// The names of the option.
    package let names: OptionNames

    /// The names of the option's values, such as `HOST`; empty for an option without values.
    package let valueNames: [String]

    /// The words that a shell suggests for the first value.
    package let completion: OptionValues.Completion

    /// One or two sentences for the help text.
    package let help: String

    /// The reason why the option is not supported, or the alternative to it. `nil` for a supported option.
    package let refusal: String?

    /// Creates the description of an option.
    init(
        names: OptionNames, valueNames: [String], completion: OptionValues.Completion, help: String,
        refusal: String? = nil
    ) {
        self.names = names
        self.valueNames = valueNames
        self.completion = completion
        self.help = help
        self.refusal = refusal
    }
}
