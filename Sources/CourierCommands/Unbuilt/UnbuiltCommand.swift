/// Commands that somebody may look for and that this version does not have.
enum UnbuiltCommand {
    /// What to do instead.
    private static let hints: [String: String] = [
        "chat": "Use 'courier sub -t chat/+ -v' beside 'courier pub -t chat/NAME -l'."
    ]

    /// The two lines for a command that is asked for by name; `nil` when it is none of these.
    static func refusal(of name: String) -> (error: String, hint: String)? {
        hints[name].map { ("The command '\(name)' is not in this version.", $0) }
    }
}
