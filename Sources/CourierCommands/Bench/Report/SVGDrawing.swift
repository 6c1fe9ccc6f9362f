import Foundation

/// Builds the text of an SVG picture element by element.
struct SVGDrawing {
    /// Names and values of attributes. A value may be any text, because it is escaped.
    typealias Attributes = KeyValuePairs<String, String>

    private(set) var text = ""
    private var open: [String] = []

    /// Opens an element. ``end()`` closes it.
    mutating func begin(_ name: String, _ attributes: Attributes = [:]) {
        text += "<\(name)\(Self.written(attributes))>\n"
        open.append(name)
    }

    mutating func end() { if let name = open.popLast() { text += "</\(name)>\n" } }

    /// Adds an element without content, or with a `title` that viewers show as a tooltip.
    mutating func add(_ name: String, _ attributes: Attributes, title: String? = nil) {
        let inside = title.map { "<title>\(Self.escaped($0))</title>" }
        text +=
            inside.map { "<\(name)\(Self.written(attributes))>\($0)</\(name)>\n" }
            ?? "<\(name)\(Self.written(attributes))/>\n"
    }

    /// Adds an element that contains text.
    mutating func add(_ name: String, text content: String, _ attributes: Attributes = [:]) {
        text += "<\(name)\(Self.written(attributes))>\(Self.escaped(content))</\(name)>\n"
    }

    /// Adds a text at this position.
    mutating func label(_ content: String, _ x: Double, _ y: Double, class names: String = "", anchor: String = "start")
    {
        add(
            "text", text: content,
            ["x": Self.number(x), "y": Self.number(y), "class": names, "text-anchor": anchor])
    }

    /// Adds a straight line.
    mutating func line(_ x1: Double, _ y1: Double, _ x2: Double, _ y2: Double, class name: String) {
        add(
            "line",
            [
                "x1": Self.number(x1), "y1": Self.number(y1), "x2": Self.number(x2), "y2": Self.number(y2),
                "class": name,
            ])
    }

    private static func written(_ attributes: Attributes) -> String {
        attributes.filter { !$0.value.isEmpty }.map { " \($0.key)=\"\(escaped($0.value))\"" }.joined()
    }

    /// Formats a length or coordinate with at most one decimal.
    static func number(_ value: Double) -> String {
        let tenths = (value * 10).rounded() / 10
        return tenths == tenths.rounded() ? String(Int(tenths)) : String(tenths)
    }

    /// Escapes a text for XML. Characters that XML does not allow are removed, and newlines and tabs become spaces.
    static func escaped(_ text: String) -> String {
        var escaped = ""
        for scalar in text.unicodeScalars {
            switch scalar {
            case "&": escaped += "&amp;"
            case "<": escaped += "&lt;"
            case ">": escaped += "&gt;"
            case "\"": escaped += "&quot;"
            case "\t", "\n", "\r": escaped += " "
            case "\u{0}"..."\u{1F}", "\u{FFFE}", "\u{FFFF}": break
            default: escaped.unicodeScalars.append(scalar)
            }
        }
        return escaped
    }
}
