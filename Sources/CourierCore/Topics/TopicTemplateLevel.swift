/// One level of a parsed topic template.
enum TopicTemplateLevel: Equatable, Sendable {
    /// A part of a level.
    enum Part: Equatable, Sendable {
        case text(String)
        case username
        case clientID
    }

    case parameter(String)
    case parts([Part])

    /// The parameter's name; `nil` if the level is not a parameter.
    var parameter: String? { if case .parameter(let name) = self { name } else { nil } }

    /// Returns whether the parameters' values turned the level into a level that MQTT reserves. `rendered` is the
    /// level's text with the values. The level is reserved if it begins with a dollar sign that is not in the template.
    /// The level is also reserved if the values changed it to `$share` or `$SYS`.
    func isReserved(as rendered: String) -> Bool {
        guard rendered.utf8.first == UInt8(ascii: "$"), !isPlainText else { return false }
        if case .parts(let parts) = self, case .text? = parts.first { return ["$share", "$SYS"].contains(rendered) }
        return true
    }

    /// True if the level contains only text and no parameter or placeholder, so that no value can change the level.
    var isPlainText: Bool {
        guard case .parts(let parts) = self else { return false }
        return parts.allSatisfy { if case .text = $0 { true } else { false } }
    }
}

extension TopicTemplateLevel {
    /// Parses a whole template, and checks that the template is a legal filter when each parameter has a value.
    static func parse(_ template: String) throws(CourierError) -> [TopicTemplateLevel] {
        var levels: [TopicTemplateLevel] = []
        var names: Set<String> = []
        for bytes in template.utf8.split(separator: TopicRules.separator, omittingEmptySubsequences: false) {
            let level = try parse(level: bytes, of: template)
            if let name = level.parameter, !names.insert(name).inserted {
                throw problem(template, "has two parameters \"\(name)\"; give them different names")
            }
            levels.append(level)
        }
        do {
            _ = try TopicFilter(levels.map(\.sample).joined(separator: "/"))
        } catch {
            throw CourierError(
                .invalidTopicTemplate, "The topic template \(template.quoted()) is not a valid topic.", cause: error)
        }
        return levels
    }

    /// The text of the level with the letter x in place of each value. The parser uses this text to check whether the
    /// template is a legal filter.
    private var sample: String {
        guard case .parts(let parts) = self else { return "x" }
        return parts.map { if case .text(let text) = $0 { text } else { "x" } }.joined()
    }

    // Parse bytes instead of characters. In Swift, a brace and a combining mark form one `Character`, but the parser
    // must find the brace.
    private static func parse(
        level: Substring.UTF8View, of template: String
    ) throws(CourierError) -> TopicTemplateLevel {
        guard let first = level.first, first == UInt8(ascii: "{") else {
            return .parts(try parse(parts: level, of: template))
        }
        let name = level.dropFirst().dropLast()
        guard level.last == UInt8(ascii: "}"), isName(name) else {
            throw problem(
                template,
                "has a level \(String(Substring(level)).quoted()) that is not {name}; "
                    + "a name may contain only letters, digits and _")
        }
        return .parameter(String(Substring(name)))
    }

    private static func parse(
        parts level: Substring.UTF8View, of template: String
    ) throws(CourierError) -> [Part] {
        var parts: [Part] = []
        var text: [UInt8] = []
        var bytes = level.makeIterator()
        while let byte = bytes.next() {
            switch byte {
            case UInt8(ascii: "{"), UInt8(ascii: "}"):
                throw problem(template, "has a brace inside a level; a {parameter} must be a whole level")
            case UInt8(ascii: "%"):
                guard let part = try placeholder(bytes.next(), of: template) else {
                    text.append(byte)
                    continue
                }
                if !text.isEmpty { parts.append(.text(String(decoding: text, as: UTF8.self))) }
                text = []
                parts.append(part)
            default: text.append(byte)
            }
        }
        if !text.isEmpty { parts.append(.text(String(decoding: text, as: UTF8.self))) }
        return parts
    }

    /// Returns the meaning of a percent sign and the following byte; `nil` for `%%`, which means a percent sign.
    private static func placeholder(_ byte: UInt8?, of template: String) throws(CourierError) -> Part? {
        switch byte {
        case UInt8(ascii: "u"): .username
        case UInt8(ascii: "c"): .clientID
        case UInt8(ascii: "%"): nil
        default: throw problem(template, "has a '%' that is not %u, %c or %%; write %% for a percent sign")
        }
    }

    private static func isName(_ bytes: Substring.UTF8View) -> Bool {
        guard let first = bytes.first, !(UInt8(ascii: "0")...UInt8(ascii: "9")).contains(first) else { return false }
        return bytes.allSatisfy { byte in
            switch byte {
            case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "_"):
                true
            default: false
            }
        }
    }

    private static func problem(_ template: String, _ sentence: String) -> CourierError {
        CourierError(.invalidTopicTemplate, "The topic template \(template.quoted()) \(sentence).")
    }
}
