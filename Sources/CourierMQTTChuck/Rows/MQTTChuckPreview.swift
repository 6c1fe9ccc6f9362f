/// A payload in a form to read.
public struct MQTTChuckPreview: Hashable, Sendable {
    /// What the payload was taken for.
    public enum Kind: String, Codable, Hashable, Sendable {
        /// There is no payload.
        case empty
        /// A parser of the app knew it.
        case parsed
        /// JSON.
        case json
        /// UTF-8 text.
        case text
        /// Bytes.
        case hex
    }

    /// What the payload was taken for.
    public let kind: Kind

    /// The text to show: indented JSON, the text itself, or hex digits.
    public let text: String

    /// Whether ``text`` shows less than the whole payload.
    public let isCut: Bool

    static let empty = MQTTChuckPreview(kind: .empty, text: "", isCut: false)
}
