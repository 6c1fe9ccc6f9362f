import Foundation

/// The name of a room or a person: one short line.
struct ChatName: Hashable, Sendable {
    /// The maximum number of characters.
    static let limit = 32
    /// The maximum size in UTF-8 bytes: 8 bytes per character. This is enough for letters with accents in any script.
    /// It prevents characters with a large number of combining marks.
    static let byteLimit = 8 * limit

    let text: String

    /// Reads a typed name; returns `nil` if it is empty or too long.
    ///
    /// Surrounding spaces are removed. Unicode normalization gives names that look equal the same bytes, so that they
    /// name the same room.
    init?(_ typed: some StringProtocol) {
        let trimmed = typed.trimmingCharacters(in: .whitespacesAndNewlines).precomposedStringWithCanonicalMapping
        let hasControl = trimmed.unicodeScalars.contains { $0.properties.generalCategory == .control }
        guard !trimmed.isEmpty, trimmed.count <= Self.limit, trimmed.utf8.count <= Self.byteLimit, !hasControl else {
            return nil
        }
        text = trimmed
    }

    /// Returns another person's name, shortened to the limits, or `somebody` if it is not a valid name.
    static func heard(_ text: String) -> String {
        ChatName(text.prefix(bytes: byteLimit).prefix(limit))?.text ?? somebody
    }

    /// The name of a person without a valid name.
    static let somebody = "somebody"

    /// The name as a topic level.
    var level: String { TopicLevel.escape(text) }

    /// The rule for valid names, as a sentence for the user.
    static let rule = "A name has 1 to \(limit) characters."
}
