/// The head of an HTTP/1.1 message: its first line and its header fields (RFC 9112).
struct HTTPHead: Equatable, Sendable {
    struct Field: Equatable, Sendable {
        /// The field's name in lower case.
        let name: String
        let value: String
    }

    /// The reason why bytes are not a valid head.
    enum Problem: Error, Equatable, Sendable {
        case notHTTP
        case tooLong(limit: Int)
        case tooManyFields(limit: Int)
        /// The bytes are malformed. The text names the problem, such as “the HTTP head is not UTF-8”.
        case malformed(String)
    }

    let startLine: String
    let fields: [Field]

    /// The values of all fields with this name, in order. `name` must be in lower case.
    func values(_ name: String) -> [String] { fields.filter { $0.name == name }.map(\.value) }

    /// The elements of the comma-separated lists in all fields with this name.
    func elements(_ name: String) -> [Substring] {
        values(name).flatMap { $0.split(separator: ",") }.map { $0.trimmingBlanks }.filter { !$0.isEmpty }
    }

    /// Returns the peer's text for use in a message: shortened, and with control characters replaced.
    static func shown(_ text: some StringProtocol, limit: Int = 120) -> String {
        let scalars = text.unicodeScalars.prefix(limit).map { scalar -> Character in
            switch scalar.properties.generalCategory {
            case .control, .format, .lineSeparator, .paragraphSeparator, .surrogate: "\u{FFFD}"
            default: Character(scalar)
            }
        }
        return String(scalars) + (text.unicodeScalars.count > limit ? "…" : "")
    }
}

extension HTTPHead {
    /// The maximum number of interim responses before the final response.
    static let interimLimit = 8

    /// True if a response with this status is followed by the final response (RFC 9110, section 15.2). 101 is final.
    static func isInterim(_ status: Int) -> Bool { (100...199).contains(status) && status != 101 }

    /// The status code in the first line of a response; `nil` if the line is not a valid status line.
    var status: Int? {
        let parts = startLine.split(separator: " ", maxSplits: 2, omittingEmptySubsequences: false)
        guard parts.count >= 2, parts[0].utf8.count == 8, parts[0].hasPrefix("HTTP/1."),
            parts[1].utf8.count == 3, let code = Int(parts[1]), (100...599).contains(code)
        else { return nil }
        return code
    }
}
