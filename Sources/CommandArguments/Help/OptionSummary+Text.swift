extension OptionSummary {
    /// The names and values of the option as help shows them, such as `-h, --host HOST`.
    package var spelling: String {
        ([names.all.joined(separator: ", ")] + valueNames).joined(separator: " ")
    }

    /// The help text of the option. For an option that is not supported, the refusal is appended.
    package var text: String { refusal.map { "\(help) Not supported: \($0)" } ?? help }
}
