import Foundation

/// A JSON document of unknown shape.
enum JSONValue: Equatable, Sendable {
    case null
    case boolean(Bool)
    case number(Double)
    case text(String)
    case list([JSONValue])
    case object([String: JSONValue])

    /// The type of the value as text for an error message. Such messages never contain the value itself.
    var kind: String {
        switch self {
        case .null: "null"
        case .boolean: "a boolean"
        case .number: "a number"
        case .text: "a string"
        case .list: "a list"
        case .object: "an object"
        }
    }

    /// The value at `path`; `nil` if there is no value or the value is `null`.
    subscript(path: JSONPath) -> JSONValue? {
        var value = self
        for step in path.steps {
            switch value {
            case .object(let members):
                guard let member = members[step] else { return nil }
                value = member
            case .list(let elements):
                guard let position = Int(step), elements.indices.contains(position) else { return nil }
                value = elements[position]
            case .null, .boolean, .number, .text: return nil
            }
        }
        return value == .null ? nil : value
    }
}

extension JSONValue: Decodable {
    init(from decoder: any Decoder) throws {
        let container = try decoder.singleValueContainer()
        if container.decodeNil() {
            self = .null
        } else if let value = try? container.decode(Bool.self) {
            self = .boolean(value)
        } else if let value = try? container.decode(Double.self) {
            self = .number(value)
        } else if let value = try? container.decode(String.self) {
            self = .text(value)
        } else if let value = try? container.decode([JSONValue].self) {
            self = .list(value)
        } else {
            self = .object(try container.decode([String: JSONValue].self))
        }
    }
}
