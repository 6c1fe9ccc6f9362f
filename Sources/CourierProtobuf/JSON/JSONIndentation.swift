/// Gives JSON lines and indentation; its names, numbers and their order stay as they are.
enum JSONIndentation {
    /// How much longer than the JSON itself the result may be: 16 times. Deep nesting of little would be longer, and
    /// then nothing is gained by lines.
    private static let growthLimit = 16

    /// The same JSON with an element or a member on each line, two spaces a level; unchanged when that is too long. It has
    /// to be valid, without white space between its tokens.
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

    /// Behind a bracket that opens stands nothing but the one that closes it.
    private static func opens(_ json: [UInt8], at index: Int) -> Bool {
        json[index] == UInt8(ascii: "{") || json[index] == UInt8(ascii: "[")
    }
}
