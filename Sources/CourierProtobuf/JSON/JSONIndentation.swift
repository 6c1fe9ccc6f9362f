/// Formats JSON with line breaks and indentation. Names, numbers and the order of members stay unchanged.
enum JSONIndentation {
    /// The result may be at most about 16 times as long as the JSON. Only deeply nested JSON with little content
    /// exceeds this limit, and line breaks do not make such JSON easier to read.
    private static let growthLimit = 16

    /// Returns the JSON with one element or member per line, indented by two spaces per level. If the result is too
    /// long, the JSON is returned unchanged. The input must be valid JSON without white space between its tokens.
    static func indented(_ json: String) -> String {
        let input = Array(json.utf8)
        let limit = input.count * growthLimit + 256
        var output: [UInt8] = []
        output.reserveCapacity(input.count * 2)
        var depth = 0
        var isInText = false
        var isEscaped = false
        func newLine() {
            output.append(UInt8(ascii: "\n"))
            output.append(contentsOf: repeatElement(UInt8(ascii: " "), count: depth * 2))
        }
        for (index, byte) in input.enumerated() {
            if output.count > limit { return json }
            if isInText {
                output.append(byte)
                isInText = isEscaped || byte != UInt8(ascii: "\"")
                isEscaped = !isEscaped && byte == UInt8(ascii: "\\")
                continue
            }
            switch byte {
            case UInt8(ascii: "{"), UInt8(ascii: "["):
                output.append(byte)
                depth += 1
                if !closes(input, at: index + 1) { newLine() }
            case UInt8(ascii: "}"), UInt8(ascii: "]"):
                depth -= 1
                if index > 0, !opens(input, at: index - 1) { newLine() }
                output.append(byte)
            case UInt8(ascii: ","):
                output.append(byte)
                newLine()
            case UInt8(ascii: ":"):
                output.append(contentsOf: [byte, UInt8(ascii: " ")])
            default:
                output.append(byte)
                isInText = byte == UInt8(ascii: "\"")
            }
        }
        return String(decoding: output, as: UTF8.self)
    }

    private static func closes(_ json: [UInt8], at index: Int) -> Bool {
        index < json.count && (json[index] == UInt8(ascii: "}") || json[index] == UInt8(ascii: "]"))
    }

    /// True if the byte is an opening bracket. A closing bracket directly after it ends an empty object or array.
    private static func opens(_ json: [UInt8], at index: Int) -> Bool {
        json[index] == UInt8(ascii: "{") || json[index] == UInt8(ascii: "[")
    }
}
