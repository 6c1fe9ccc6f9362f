/// Collects the received pieces of a head up to a limit, and parses the head when it is complete.
struct HTTPHeadReader: Sendable {
    private let beginning: [UInt8]
    private let limit: Int
    private let fieldLimit: Int
    private var bytes: [UInt8] = []

    /// - Parameters:
    ///   - beginning: The expected beginning of the first line, so that a peer with another protocol is detected at
    ///     once.
    ///   - limit: The maximum length of the head in bytes.
    ///   - fieldLimit: The maximum number of header fields.
    init(beginning: String, limit: Int, fieldLimit: Int) {
        self.beginning = Array(beginning.utf8)
        self.limit = limit
        self.fieldLimit = fieldLimit
    }

    /// Reads bytes up to the end of the head. Returns the number of bytes read, and the head if it is complete.
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
            throw .malformed("the HTTP head is not UTF-8")
        }
        // Programs read a lone CR, a lone LF and a NUL in different ways. An attacker could use this difference, so a
        // head with one of these characters is rejected.
        var lines: [Substring.UTF8View.SubSequence] = []
        var rest = Substring(text).utf8
        while let end = rest.firstIndex(where: { $0 == 13 || $0 == 10 || $0 == 0 }) {
            let next = rest.index(after: end)
            guard rest[end] == 13, next < rest.endIndex, rest[next] == 10 else {
                throw .malformed("the HTTP head has a stray control character")
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
            throw .malformed("the HTTP head has a line without a colon")
        }
        let name = line[..<colon]
        guard name.isHTTPToken else { throw .malformed("the HTTP head has a field with a forbidden name") }
        let value = line[line.utf8.index(after: colon)...].trimmingBlanks
        return HTTPHead.Field(name: name.lowercased(), value: String(value))
    }
}
