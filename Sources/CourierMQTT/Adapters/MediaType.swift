/// The type and subtype of a content type, such as `application/json`, in the form in which two are compared: without
/// parameters, and in lower case (RFC 9110, section 8.3.1).
struct MediaType: Hashable, Sendable {
    private let text: String

    /// Reads a content type; everything from the first `;` on, and spaces around the rest, are left out.
    init(_ contentType: String) {
        let spaces: [Character] = [" ", "\t"]
        let essence = contentType.prefix { $0 != ";" }.drop(while: spaces.contains)
        let end = essence.lastIndex { !spaces.contains($0) }
        text = end.map { essence[...$0].lowercased() } ?? ""
    }
}
