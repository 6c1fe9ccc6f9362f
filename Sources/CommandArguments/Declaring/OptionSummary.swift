/// What help, manual page and completions say of an option.
package struct OptionSummary: Hashable, Sendable {
    /// Its names.
    package let names: OptionNames

    /// How its values are called; empty for an option that stands alone.
    package let valueNames: [String]

    /// What a shell may offer for the first value.
    package let completion: OptionValues.Completion

    /// A sentence or two.
    package let help: String

    /// Why it is refused and what to do instead; `nil` for an option that works.
    package let refusal: String?

    /// Joins the parts.
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
