import Foundation

/// What a room or a person is called: one line that is not long.
struct ChatName: Hashable, Sendable {
    /// How many characters it may have.
    static let limit = 32
    /// How many bytes of UTF-8 it may have: room for letters of any script and their accents, and for no tower of them.
    static let byteLimit = 8 * limit

    let text: String

    /// Takes a name as it was typed; `nil` when nothing is left of it, or too much.
    ///
    /// Spaces around it do not count, and a letter with its accent is one character however it was typed, so that the same
    /// name is the same room.
    init?(_ typed: some StringProtocol) {
        let trimmed = typed.trimmingCharacters(in: .whitespacesAndNewlines).precomposedStringWithCanonicalMapping
        let hasControl = trimmed.unicodeScalars.contains { $0.properties.generalCategory == .control }
        guard !trimmed.isEmpty, trimmed.count <= Self.limit, trimmed.utf8.count <= Self.byteLimit, !hasControl else {
            return nil
        }
        text = trimmed
    }

    /// What somebody else is called, who says anything: as much of it as a name may have, or `somebody` when that is none.
    static func heard(_ text: String) -> String {
        ChatName(text.prefix(bytes: byteLimit).prefix(limit))?.text ?? somebody
    }

    /// Who does not say what they are called.
    static let somebody = "somebody"

    /// As it stands in a topic.
    var level: String { TopicLevel.escape(text) }

    /// How the rules are told.
    static let rule = "A name has 1 to \(limit) characters."
}
