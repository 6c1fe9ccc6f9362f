/// The source of one connect option: a path in the token endpoint's response, or a fixed value.
///
/// A string literal is a path: `host: "broker.host"` reads the response, and `host: .fixed("broker.example.com")` does
/// not. Descriptions show no fixed value and no default value, because both may be secret.
public enum ResponseField<Value: Sendable>: Sendable {
    /// The option always has this value.
    case fixed(Value)
    /// The option has the value at this path in the response. If that value is missing or `null`, the default value is
    /// used. Without a default value, a missing value is an error.
    case at(JSONPath, default: Value? = nil)
}

extension ResponseField: ExpressibleByStringLiteral {
    /// Creates a field that reads the response at this path.
    public init(stringLiteral path: String) { self = .at(JSONPath(path)) }
}

extension ResponseField: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    /// The text `fixed` for a fixed value; otherwise `at` and the path.
    public var description: String {
        switch self {
        case .fixed: "fixed"
        case .at(let path, _): "at \(path.description.debugDescription)"
        }
    }

    /// The same text as ``description``.
    public var debugDescription: String { description }

    /// Shows the same as ``description``.
    public var customMirror: Mirror { Mirror(self, children: ["source": description], displayStyle: .enum) }
}
