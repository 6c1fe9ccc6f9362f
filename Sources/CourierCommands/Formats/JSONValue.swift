import Foundation

/// A JSON value that keeps the order of members and repeated names, and stores strings as bytes.
///
/// Foundation's JSON types lose the order of members and repeated names. They also refuse strings that are not valid
/// UTF-8, and MQTT payloads may contain such strings.
enum JSONValue: Hashable {
    struct Member: Hashable {
        let key: [UInt8]
        let value: JSONValue
    }

    /// The maximum nesting depth of arrays and objects.
    static let depthLimit = 500

    case null
    case bool(Bool)
    /// The number as text, exactly as it is written to the output.
    case number(String)
    case string([UInt8])
    case array([JSONValue])
    case object([Member])
}

// MARK: - Writing

extension JSONValue {
    /// Appends the value to `bytes` as JSON: on one line, or if `isPretty`, on several lines indented with tabs.
    func write(isPretty: Bool, into bytes: inout [UInt8]) { write(isPretty: isPretty, depth: 0, into: &bytes) }

    private func write(isPretty: Bool, depth: Int, into bytes: inout [UInt8]) {
        switch self {
        case .null: bytes += "null".utf8
        case .bool(let value): bytes += (value ? "true" : "false").utf8
        case .number(let text): bytes += text.utf8
        case .string(let text): Self.write(text, into: &bytes)
        case .array(let values):
            bytes.append(UInt8(ascii: "["))
            for (index, value) in values.enumerated() {
                if index > 0 { bytes += (isPretty ? ", " : ",").utf8 }
                value.write(isPretty: isPretty, depth: depth + 1, into: &bytes)
            }
            bytes.append(UInt8(ascii: "]"))
        case .object(let members):
            bytes.append(UInt8(ascii: "{"))
            if isPretty { bytes.append(0x0A) }
            for (index, member) in members.enumerated() {
                if isPretty { bytes += repeatElement(0x09, count: depth + 1) }
                Self.write(member.key, into: &bytes)
                bytes += (isPretty ? ":\t" : ":").utf8
                member.value.write(isPretty: isPretty, depth: depth + 1, into: &bytes)
                if index < members.count - 1 { bytes.append(UInt8(ascii: ",")) }
                if isPretty { bytes.append(0x0A) }
            }
            if isPretty { bytes += repeatElement(0x09, count: depth) }
            bytes.append(UInt8(ascii: "}"))
        }
    }

    private static let escapes: [UInt8: String] = [
        0x22: "\\\"", 0x5C: "\\\\", 0x08: "\\b", 0x0C: "\\f", 0x0A: "\\n", 0x0D: "\\r", 0x09: "\\t",
    ]

    private static func write(_ text: [UInt8], into bytes: inout [UInt8]) {
        bytes.append(0x22)
        for byte in text {
            if byte >= 0x20, byte != 0x22, byte != 0x5C {
                bytes.append(byte)
            } else if let escape = escapes[byte] {
                bytes += escape.utf8
            } else {
                let digits = String(byte, radix: 16)
                bytes += "\\u\(String(repeating: "0", count: 4 - digits.count))\(digits)".utf8
            }
        }
        bytes.append(0x22)
    }
}

// MARK: - Reading

extension JSONValue {
    /// Parses JSON text (RFC 8259). Returns `nil` if the text is not valid JSON or is nested deeper than
    /// ``depthLimit``.
    ///
    /// Numbers are rewritten in the format that the cJSON library uses. If `keepsNumbers` is true, their text is not
    /// changed.
    init?(parsing bytes: [UInt8], keepsNumbers: Bool = false) {
        var reader = Reader(bytes: bytes, keepsNumbers: keepsNumbers)
        guard let value = reader.value(depth: 0) else { return nil }
        reader.skipSpace()
        guard reader.isAtEnd else { return nil }
        self = value
    }

    private struct Reader {
        let bytes: [UInt8]
        let keepsNumbers: Bool
        var place = 0

        var isAtEnd: Bool { place == bytes.count }
        var next: UInt8? { place < bytes.count ? bytes[place] : nil }

        mutating func skipSpace() {
            while let byte = next, byte == 0x20 || byte == 0x0A || byte == 0x0D || byte == 0x09 { place += 1 }
        }

        mutating func take(_ text: StaticString) -> Bool {
            let count = text.utf8CodeUnitCount
            guard bytes.count - place >= count else { return false }
            let matches = text.withUTF8Buffer { $0.elementsEqual(bytes[place..<place + count]) }
            if matches { place += count }
            return matches
        }

        mutating func value(depth: Int) -> JSONValue? {
            guard depth < JSONValue.depthLimit else { return nil }
            skipSpace()
            switch next {
            case UInt8(ascii: "n"): return take("null") ? .null : nil
            case UInt8(ascii: "t"): return take("true") ? .bool(true) : nil
            case UInt8(ascii: "f"): return take("false") ? .bool(false) : nil
            case UInt8(ascii: "\""): return string().map { .string($0) }
            case UInt8(ascii: "["): return array(depth: depth)
            case UInt8(ascii: "{"): return object(depth: depth)
            default: return number()
            }
        }

        private mutating func array(depth: Int) -> JSONValue? {
            place += 1
            var values: [JSONValue] = []
            skipSpace()
            if take("]") { return .array([]) }
            while true {
                guard let value = value(depth: depth + 1) else { return nil }
                values.append(value)
                skipSpace()
                if take("]") { return .array(values) }
                guard take(",") else { return nil }
            }
        }

        private mutating func object(depth: Int) -> JSONValue? {
            place += 1
            var members: [Member] = []
            skipSpace()
            if take("}") { return .object([]) }
            while true {
                skipSpace()
                guard next == UInt8(ascii: "\""), let key = string() else { return nil }
                skipSpace()
                guard take(":"), let value = value(depth: depth + 1) else { return nil }
                members.append(Member(key: key, value: value))
                skipSpace()
                if take("}") { return .object(members) }
                guard take(",") else { return nil }
            }
        }

        /// Parses a number. Unless `keepsNumbers` is true, the number is rewritten in the format that the cJSON library
        /// uses.
        private mutating func number() -> JSONValue? {
            let start = place
            _ = take("-")
            guard let first = next, isDigit(first) else { return nil }
            if first == UInt8(ascii: "0") { place += 1 } else { skipDigits() }
            if take(".") {
                guard let digit = next, isDigit(digit) else { return nil }
                skipDigits()
            }
            if take("e") || take("E") {
                if !take("+") { _ = take("-") }
                guard let digit = next, isDigit(digit) else { return nil }
                skipDigits()
            }
            let text = String(decoding: bytes[start..<place], as: UTF8.self)
            guard let number = Double(text), number.isFinite else { return nil }
            return .number(keepsNumbers ? text : JSONValue.text(of: number))
        }

        private func isDigit(_ byte: UInt8) -> Bool { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte) }

        private mutating func skipDigits() { while let byte = next, isDigit(byte) { place += 1 } }

        private mutating func string() -> [UInt8]? {
            place += 1
            var text: [UInt8] = []
            while let byte = next {
                place += 1
                switch byte {
                case 0x22: return text
                case 0x5C:
                    guard let escaped = escape() else { return nil }
                    text += escaped
                case ..<0x20: return nil
                default: text.append(byte)
                }
            }
            return nil
        }

        private mutating func escape() -> [UInt8]? {
            guard let letter = next else { return nil }
            place += 1
            switch letter {
            case UInt8(ascii: "\""), UInt8(ascii: "\\"), UInt8(ascii: "/"): return [letter]
            case UInt8(ascii: "b"): return [0x08]
            case UInt8(ascii: "f"): return [0x0C]
            case UInt8(ascii: "n"): return [0x0A]
            case UInt8(ascii: "r"): return [0x0D]
            case UInt8(ascii: "t"): return [0x09]
            case UInt8(ascii: "u"):
                guard let first = unit() else { return nil }
                guard UTF16.isLeadSurrogate(first) else {
                    return Unicode.Scalar(first).map { Array(String(Character($0)).utf8) }
                }
                guard take("\\u"), let second = unit(), UTF16.isTrailSurrogate(second) else { return nil }
                return Array(String(decoding: [first, second], as: UTF16.self).utf8)
            default: return nil
            }
        }

        private mutating func unit() -> UInt16? {
            guard bytes.count - place >= 4 else { return nil }
            let text = String(decoding: bytes[place..<place + 4], as: UTF8.self)
            guard text.allSatisfy(\.isHexDigit) else { return nil }
            place += 4
            return UInt16(text, radix: 16)
        }
    }

    /// Formats a number like cJSON: with `%1.15g`, or with `%1.17g` if that text does not parse to the same number.
    /// Integers below 2^31 are written without an exponent.
    private static func text(of number: Double) -> String {
        if number == number.rounded(), abs(number) < 2_147_483_648 { return String(Int(number)) }
        let short = String(format: "%1.15g", number)
        return Double(short) == number ? short : String(format: "%1.17g", number)
    }
}
