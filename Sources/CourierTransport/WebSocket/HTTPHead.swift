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
    /// The status of a response by its first line; `nil` where it is none.
    var status: Int? {
        let parts = startLine.split(separator: " ", maxSplits: 2, omittingEmptySubsequences: false)
        guard parts.count >= 2, parts[0].utf8.count == 8, parts[0].hasPrefix("HTTP/1."),
            parts[1].utf8.count == 3, let code = Int(parts[1]), (100...599).contains(code)
        else { return nil }
        return code
    }
}

/// Collects a head that comes in pieces, up to a limit, and reads it.
struct HTTPHeadReader: Sendable {
    private let beginning: [UInt8]
    private let limit: Int
    private let fieldLimit: Int
    private var bytes: [UInt8] = []

    /// - Parameters:
    ///   - beginning: What the first line begins with, so that a peer that speaks another protocol is known at once.
    ///   - limit: How many bytes the head may have.
    ///   - fieldLimit: How many fields it may have.
    init(beginning: String, limit: Int, fieldLimit: Int) {
        self.beginning = Array(beginning.utf8)
        self.limit = limit
        self.fieldLimit = fieldLimit
    }

    /// Takes bytes up to the end of the head: how many, and the head once it is complete.
    mutating func read(_ new: UnsafeRawBufferPointer) throws(HTTPHead.Problem) -> (taken: Int, head: HTTPHead?) {
        for (index, byte) in new.enumerated() {
            if bytes.count < beginning.count, byte != beginning[bytes.count] { throw .notHTTP }
            guard bytes.count < limit else { throw .tooLong(limit: limit) }
            bytes.append(byte)
            if byte == UInt8(ascii: "\n"), bytes.suffix(4).elementsEqual("\r\n\r\n".utf8) {
                return (index + 1, try parse())
            }
        }
        return (new.count, nil)
    }

    private func parse() throws(HTTPHead.Problem) -> HTTPHead {
        guard let text = String(validating: bytes.dropLast(4), as: UTF8.self) else {
            throw .malformed("is not UTF-8")
        }
        // A lone CR or LF, and NUL, are read differently by different programs: nobody is to profit from that.
        var lines: [Substring.UTF8View.SubSequence] = []
        var rest = Substring(text).utf8
        while let end = rest.firstIndex(where: { $0 == 13 || $0 == 10 || $0 == 0 }) {
            let next = rest.index(after: end)
            guard rest[end] == 13, next < rest.endIndex, rest[next] == 10 else {
                throw .malformed("has a stray control character")
            }
            lines.append(rest[..<end])
            rest = rest[rest.index(after: next)...]
        }
        lines.append(rest)
        guard lines.count - 1 <= fieldLimit else { throw .tooManyFields(limit: fieldLimit) }
        var fields: [HTTPHead.Field] = []
        for line in lines.dropFirst() { fields.append(try Self.field(Substring(line))) }
        return HTTPHead(startLine: String(Substring(lines[0])), fields: fields)
    }

    private static func field(_ line: Substring) throws(HTTPHead.Problem) -> HTTPHead.Field {
        guard let colon = line.utf8.firstIndex(of: UInt8(ascii: ":")) else {
            throw .malformed("has a line without a colon")
        }
        let name = line[..<colon]
        guard name.isHTTPToken else { throw .malformed("has a field with a forbidden name") }
        let value = line[line.utf8.index(after: colon)...].trimmingBlanks
        return HTTPHead.Field(name: name.lowercased(), value: String(value))
    }
}

extension StringProtocol {
    /// Whether it is a token of HTTP, such as the name of a field (RFC 9110, section 5.6.2).
    var isHTTPToken: Bool {
        !isEmpty
            && utf8.allSatisfy { byte in
                switch byte {
                case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                    UInt8(ascii: "0")...UInt8(ascii: "9"):
                    true
                default: "!#$%&'*+-.^_`|~".utf8.contains(byte)
                }
            }
    }
}

extension Substring {
    /// Without the blanks and tabs around it.
    fileprivate var trimmingBlanks: Substring {
        var text = self
        while let first = text.utf8.first, first == 32 || first == 9 { text.removeFirst() }
        while let last = text.utf8.last, last == 32 || last == 9 { text.removeLast() }
        return text
    }
}
