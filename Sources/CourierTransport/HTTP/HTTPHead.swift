/// What an HTTP/1.1 message has in front of its content: the first line and the header fields (RFC 9112).
struct HTTPHead: Equatable, Sendable {
    struct Field: Equatable, Sendable {
        /// In small letters.
        let name: String
        let value: String
    }

    /// Why bytes are no head.
    enum Problem: Error, Equatable, Sendable {
        case notHTTP
        case tooLong(limit: Int)
        case tooManyFields(limit: Int)
        /// What is wrong, to stand behind “the head of the answer”.
        case malformed(String)
    }

    let startLine: String
    let fields: [Field]

    /// The values of all fields called `name`, which is in small letters, in order.
    func values(_ name: String) -> [String] { fields.filter { $0.name == name }.map(\.value) }

    /// The elements of the lists that the fields called `name` hold.
    func elements(_ name: String) -> [Substring] {
        values(name).flatMap { $0.split(separator: ",") }.map { $0.trimmingBlanks }.filter { !$0.isEmpty }
    }

    /// Text of a peer's, made fit to stand in a message: cut, and without control characters.
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
    /// How many interim answers may come before the one that counts.
    static let interimLimit = 8

    /// Whether a response with this status comes before the one that counts (RFC 9110, section 15.2). 101 counts.
    static func isInterim(_ status: Int) -> Bool { (100...199).contains(status) && status != 101 }

    /// The status of a response by its first line; `nil` where it is none.
    var status: Int? {
        let parts = startLine.split(separator: " ", maxSplits: 2, omittingEmptySubsequences: false)
        guard parts.count >= 2, parts[0].utf8.count == 8, parts[0].hasPrefix("HTTP/1."),
            parts[1].utf8.count == 3, let code = Int(parts[1]), (100...599).contains(code)
        else { return nil }
        return code
    }
}
