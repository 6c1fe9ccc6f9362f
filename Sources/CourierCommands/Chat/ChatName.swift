import Foundation

/// What a room or a person is called: one line that is not long.
struct ChatName: Hashable, Sendable {
    /// How many characters it may have.
    static let limit = 32

    let text: String

    /// Takes a name as it was typed; `nil` when nothing is left of it, or too much.
    ///
    /// Spaces around it do not count, and a letter with its accent is one character however it was typed, so that the same
    /// name is the same room.
    init?(_ typed: some StringProtocol) {
        let trimmed = typed.trimmingCharacters(in: .whitespacesAndNewlines).precomposedStringWithCanonicalMapping
        let hasControl = trimmed.unicodeScalars.contains { $0.properties.generalCategory == .control }
        guard !trimmed.isEmpty, trimmed.count <= Self.limit, trimmed.utf8.count <= 8 * Self.limit, !hasControl else {
            return nil
        }
        text = trimmed
    }

    /// As it stands in a topic.
    var level: String { TopicLevel.escape(text) }

    /// How the rules are told.
    static let rule = "A name has 1 to \(limit) characters."
}
