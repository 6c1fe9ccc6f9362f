import CourierProtobuf

/// Converts the default values in a proto2 file to Swift source.
enum DefaultLiteral {
    static func source(_ field: FieldDescriptor, in types: TypeTable) -> String? {
        guard let text = field.defaultValue else { return nil }
        switch field.kind {
        case .string: return literal(text)
        case .bytes: return "[\(unescaped(text).map(String.init).joined(separator: ", "))]"
        case .enum:
            guard let type = types.enumerations[field.typeName],
                let index = type.descriptor.values.firstIndex(where: { $0.name == text })
            else { return nil }
            return "\(type.path).\(type.caseNames[index])"
        case .float, .double:
            switch text {
            case "inf": return ".infinity"
            case "-inf": return "-.infinity"
            case "nan": return ".nan"
            default: return text
            }
        default: return text
        }
    }

    /// Returns a Swift string literal. Characters that cannot appear in a literal are escaped.
    static func literal(_ text: String) -> String {
        var source = "\""
        for scalar in text.unicodeScalars {
            switch scalar {
            case "\"", "\\": source += "\\\(scalar)"
            case "\n": source += "\\n"
            case "\u{0}"..."\u{1F}", "\u{7F}"..."\u{A0}", "\u{10000}"..."\u{10FFFF}",
                _ where scalar.properties.generalCategory == .format:
                source += "\\u{\(String(scalar.value, radix: 16))}"
            default: source.unicodeScalars.append(scalar)
            }
        }
        return source + "\""
    }

    /// Returns the bytes of a `bytes` default, which protoc sends as text with C escapes.
    static func unescaped(_ text: String) -> [UInt8] {
        var bytes: [UInt8] = []
        var rest = Array(text.utf8)[...]
        while let byte = rest.popFirst() {
            guard byte == UInt8(ascii: "\\"), let escape = rest.popFirst() else {
                bytes.append(byte)
                continue
            }
            switch escape {
            case UInt8(ascii: "n"): bytes.append(10)
            case UInt8(ascii: "r"): bytes.append(13)
            case UInt8(ascii: "t"): bytes.append(9)
            case UInt8(ascii: "0")...UInt8(ascii: "7"):
                let digits = [escape] + rest.prefix(2).prefix { (UInt8(ascii: "0")...UInt8(ascii: "7")).contains($0) }
                rest = rest.dropFirst(digits.count - 1)
                bytes.append(UInt8(truncatingIfNeeded: digits.reduce(0) { $0 * 8 + Int($1 - UInt8(ascii: "0")) }))
            default: bytes.append(escape)  // A quote or a backslash.
            }
        }
        return bytes
    }
}
