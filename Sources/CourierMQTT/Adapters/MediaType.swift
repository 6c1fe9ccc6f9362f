/// The type and subtype of a content type, such as `application/json`. Two values can be compared (RFC 9110, section
/// 8.3.1), because parameters are left out and letters are in lower case.
struct MediaType: Hashable, Sendable {
    private let text: String

    /// Parses a content type. Ignores spaces at both ends, and everything from the first `;` on.
    init(_ contentType: String) {
        let spaces: [Character] = [" ", "\t"]
        let essence = contentType.prefix { $0 != ";" }.drop(while: spaces.contains)
        let end = essence.lastIndex { !spaces.contains($0) }
        text = end.map { essence[...$0].lowercased() } ?? ""
    }
}
