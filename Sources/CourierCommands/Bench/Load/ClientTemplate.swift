import CommandArguments
import CourierCore

/// A topic or topic filter with placeholders, from which each client of `courier bench` gets its own topic or filter.
///
/// `%i` is replaced by the number of the client, `%c` by its client id, and `%%` by a percent sign.
struct ClientTemplate: Hashable, Sendable {
    private enum Part: Hashable {
        case text(String)
        case number
        case clientID
    }

    /// The text as typed.
    let text: String
    private let parts: [Part]

    /// Parses a template.
    ///
    /// - Parameters:
    ///   - text: The typed text.
    ///   - option: The name of the option, for error messages.
    /// - Throws: ``ArgumentError`` if the text has an unknown placeholder.
    private init(_ text: String, of option: String) throws(ArgumentError) {
        try MalformedText.check(text, of: option)
        self.text = text
        var parts: [Part] = []
        var plain = ""
        var rest = text.unicodeScalars[...]
        while let scalar = rest.popFirst() {
            guard scalar == "%" else {
                plain.unicodeScalars.append(scalar)
                continue
            }
            let letter = rest.popFirst()
            if letter == "%" {
                plain += "%"
                continue
            }
            parts.append(.text(plain))
            plain = ""
            switch letter {
            case "i": parts.append(.number)
            case "c": parts.append(.clientID)
            default:
                throw ArgumentError(
                    "The value '\(text)' of \(option) has the unknown placeholder %\(letter.map { String($0) } ?? "").",
                    hint: "Use %i for the number of the client, %c for its client id, or %% for a percent sign.")
            }
        }
        self.parts = (parts + [.text(plain)]).filter { $0 != .text("") }
    }

    /// Parses the template of a topic.
    ///
    /// - Parameters:
    ///   - topic: The typed text.
    ///   - option: The name of the option, for error messages.
    /// - Throws: ``ArgumentError`` for an unknown placeholder, or if the result is not a topic name.
    init(topic: String, of option: String) throws(ArgumentError) {
        try self.init(topic, of: option)
        guard (try? TopicName(longest)) != nil else {
            throw ArgumentError("Invalid publish topic '\(topic)', does it contain '+' or '#'?")
        }
    }

    /// Parses the template of a topic filter.
    ///
    /// - Parameters:
    ///   - filter: The typed text.
    ///   - option: The name of the option, for error messages.
    /// - Throws: ``ArgumentError`` for an unknown placeholder, or if the result is not a topic filter.
    init(filter: String, of option: String) throws(ArgumentError) {
        try self.init(filter, of: option)
        guard (try? TopicFilter(longest)) != nil else {
            throw ArgumentError("Invalid subscription topic '\(filter)', are all '+' and '#' wildcards correct?")
        }
    }

    /// Makes a template without placeholders.
    init(exactly text: String) {
        self.text = text.replacing("%", with: "%%")
        parts = [.text(text)]
    }

    /// True if all clients get the same text.
    var isSameForAll: Bool {
        parts.allSatisfy { if case .text = $0 { true } else { false } }
    }

    /// Returns the text for one client.
    ///
    /// - Parameters:
    ///   - number: The number of the client, counted from 1.
    ///   - clientID: Its client id.
    /// - Returns: The text without placeholders.
    func text(number: Int, clientID: String) -> String {
        parts.map { part in
            switch part {
            case .text(let text): text
            case .number: String(number)
            case .clientID: clientID
            }
        }.joined()
    }

    /// The longest possible text for one client.
    private var longest: String {
        text(
            number: BenchArguments.clientLimit,
            clientID: String(repeating: "c", count: LoadPlan.clientIDLimit))
    }
}
