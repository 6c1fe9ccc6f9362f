extension OptionSummary {
    /// How it is typed, as in `-h, --host HOST`.
    package var spelling: String {
        ([names.all.joined(separator: ", ")] + valueNames).joined(separator: " ")
    }

    /// Its help, and what becomes of it where it is refused.
    package var text: String { refusal.map { "\(help) Not supported: \($0)" } ?? help }
}
