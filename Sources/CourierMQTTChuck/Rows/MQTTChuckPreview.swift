/// A payload as readable text.
public struct MQTTChuckPreview: Hashable, Sendable {
    /// The detected format of a payload.
    public enum Kind: String, Codable, Hashable, Sendable {
        /// The payload is empty.
        case empty
        /// A parser of the app returned the text.
        case parsed
        /// The payload is JSON.
        case json
        /// The payload is UTF-8 text.
        case text
        /// The payload is neither JSON nor text. Its bytes are shown as hex digits.
        case hex
    }

    /// The detected format of the payload.
    public let kind: Kind

    /// The text to show: indented JSON, the text itself, or hex digits.
    public let text: String

    /// True if ``text`` does not show the whole payload.
    public let isCut: Bool

    static let empty = MQTTChuckPreview(kind: .empty, text: "", isCut: false)
}
