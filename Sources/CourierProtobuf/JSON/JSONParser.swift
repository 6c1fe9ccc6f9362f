import CourierCore

/// A parsed JSON value. Numbers are stored as text, because a `Double` cannot hold every 64-bit integer.
indirect enum JSONNode: Equatable {
    case null
    case bool(Bool)
    case number(String)
    case string(String)
    case array([JSONNode])
    case object([(name: String, value: JSONNode)])

    static func == (one: JSONNode, other: JSONNode) -> Bool {
        switch (one, other) {
        case (.null, .null): true
        case (.bool(let one), .bool(let other)): one == other
        case (.number(let one), .number(let other)), (.string(let one), .string(let other)): one == other
        case (.array(let one), .array(let other)): one == other
        case (.object(let one), .object(let other)):
            one.count == other.count && zip(one, other).allSatisfy { $0.name == $1.name && $0.value == $1.value }
        default: false
        }
    }
}

/// Reads JSON (RFC 8259), within limits on its length and depth.
struct JSONParser {
    private let bytes: [UInt8]
    private var at = 0
    private var depthLeft: Int

    init(_ text: String, limits: ProtobufLimits) throws(CourierError) {
        guard text.utf8.count <= limits.maximumJSONSize else {
            throw CourierError(.encodingFailed, "the JSON is longer than the limit of \(limits.maximumJSONSize) bytes")
        }
        bytes = Array(text.utf8)
        depthLeft = limits.depth
    }

    private init(number text: String) {
        bytes = Array(text.utf8)
        depthLeft = 0
    }

    /// True if the whole text is one JSON number.
    static func isNumber(_ text: String) -> Bool {
        var parser = JSONParser(number: text)
        return (try? parser.number()) != nil && parser.at == parser.bytes.count
    }

    mutating func document() throws(CourierError) -> JSONNode {
        let node = try value()
        skipSpace()
        guard at == bytes.count else { throw unexpected("the end") }
        return node
    }

    private mutating func value() throws(CourierError) -> JSONNode {
        skipSpace()
        switch next {
        case UInt8(ascii: "{"): return try nested { parser throws(CourierError) in try parser.object() }
        case UInt8(ascii: "["): return try nested { parser throws(CourierError) in try parser.array() }
        case UInt8(ascii: "\""): return .string(try string())
        case UInt8(ascii: "t"): return try word("true", .bool(true))
        case UInt8(ascii: "f"): return try word("false", .bool(false))
        case UInt8(ascii: "n"): return try word("null", .null)
        default: return .number(try number())
        }
    }

    private mutating func nested(
        _ body: (inout JSONParser) throws(CourierError) -> JSONNode
    ) throws(CourierError) -> JSONNode {
        guard depthLeft > 0 else { throw CourierError(.encodingFailed, "the JSON is nested too deeply at byte \(at)") }
        depthLeft -= 1
        at += 1
        let node = try body(&self)
        depthLeft += 1
        return node
    }

    private mutating func object() throws(CourierError) -> JSONNode {
        var members: [(name: String, value: JSONNode)] = []
        skipSpace()
        if take(UInt8(ascii: "}")) { return .object([]) }
        repeat {
            skipSpace()
            let name = try string()
            skipSpace()
            guard take(UInt8(ascii: ":")) else { throw unexpected("a colon") }
            members.append((name, try value()))
            skipSpace()
        } while take(UInt8(ascii: ","))
        guard take(UInt8(ascii: "}")) else { throw unexpected("a comma or a brace") }
        return .object(members)
    }

    private mutating func array() throws(CourierError) -> JSONNode {
        var elements: [JSONNode] = []
        skipSpace()
        if take(UInt8(ascii: "]")) { return .array([]) }
        repeat {
            elements.append(try value())
            skipSpace()
        } while take(UInt8(ascii: ","))
        guard take(UInt8(ascii: "]")) else { throw unexpected("a comma or a bracket") }
        return .array(elements)
    }

    private mutating func word(_ word: String, _ node: JSONNode) throws(CourierError) -> JSONNode {
        guard bytes[at...].starts(with: word.utf8) else { throw unexpected("a value") }
        at += word.utf8.count
        return node
    }

    private mutating func number() throws(CourierError) -> String {
        let start = at
        _ = take(UInt8(ascii: "-"))
        let whole = digits()
        guard whole > 0, whole == 1 || bytes[at - whole] != UInt8(ascii: "0") else { throw unexpected("a value") }
        if take(UInt8(ascii: ".")), digits() == 0 { throw unexpected("a digit") }
        if take(UInt8(ascii: "e")) || take(UInt8(ascii: "E")) {
            _ = take(UInt8(ascii: "+")) || take(UInt8(ascii: "-"))
            if digits() == 0 { throw unexpected("a digit") }
        }
        return String(decoding: bytes[start..<at], as: UTF8.self)
    }

    private mutating func string() throws(CourierError) -> String {
        guard take(UInt8(ascii: "\"")) else { throw unexpected("a text") }
        var content: [UInt8] = []
        while let byte = next, byte != UInt8(ascii: "\"") {
            guard byte >= 0x20 else { throw unexpected("an escaped character") }
            at += 1
            if byte == UInt8(ascii: "\\") { content += String(try escape()).utf8 } else { content.append(byte) }
        }
        guard take(UInt8(ascii: "\"")) else { throw unexpected("a quote") }
        return String(decoding: content, as: UTF8.self)
    }

    private mutating func escape() throws(CourierError) -> Unicode.Scalar {
        guard let byte = next else { throw unexpected("an escape") }
        at += 1
        switch byte {
        case UInt8(ascii: "\""), UInt8(ascii: "\\"), UInt8(ascii: "/"): return Unicode.Scalar(byte)
        case UInt8(ascii: "b"): return "\u{8}"
        case UInt8(ascii: "f"): return "\u{C}"
        case UInt8(ascii: "n"): return "\n"
        case UInt8(ascii: "r"): return "\r"
        case UInt8(ascii: "t"): return "\t"
        case UInt8(ascii: "u"):
            var code = try fourDigits()
            if 0xD800..<0xDC00 ~= code {
                guard take(UInt8(ascii: "\\")), take(UInt8(ascii: "u")) else {
                    throw unexpected("the second half of a surrogate pair")
                }
                let low = try fourDigits()
                guard 0xDC00..<0xE000 ~= low else { throw unexpected("the second half of a surrogate pair") }
                code = 0x10000 + (code - 0xD800) << 10 + (low - 0xDC00)
            }
            guard let scalar = Unicode.Scalar(code) else { throw unexpected("a character") }
            return scalar
        default: throw unexpected("an escape")
        }
    }

    private mutating func fourDigits() throws(CourierError) -> UInt32 {
        var code: UInt32 = 0
        for _ in 0..<4 {
            guard let digit = next.flatMap({ Character(Unicode.Scalar($0)).hexDigitValue }) else {
                throw unexpected("a hexadecimal digit")
            }
            code = code << 4 | UInt32(digit)
            at += 1
        }
        return code
    }

    // MARK: Bytes

    private var next: UInt8? { at < bytes.count ? bytes[at] : nil }

    private mutating func take(_ byte: UInt8) -> Bool {
        guard next == byte else { return false }
        at += 1
        return true
    }

    private mutating func digits() -> Int {
        let start = at
        while let byte = next, UInt8(ascii: "0")...UInt8(ascii: "9") ~= byte { at += 1 }
        return at - start
    }

    private mutating func skipSpace() {
        while let byte = next, byte == 0x20 || byte == 0x0A || byte == 0x0D || byte == 0x09 { at += 1 }
    }

    private func unexpected(_ wanted: String) -> CourierError {
        CourierError(.encodingFailed, "the text is not valid JSON: \(wanted) is expected at byte \(at)")
    }
}
