/// Where one of the connect options comes from: the answer of the token endpoint, or always the same.
///
/// A string literal is a path, so that `host: "broker.host"` reads the answer and `host: .fixed("broker.example.com")` does
/// not. No description shows a fixed value or a default, which may be secret.
public enum ResponseField<Value: Sendable>: Sendable {
    /// Always this value.
    case fixed(Value)
    /// What the answer has at this path; the default, where there is one, if it has nothing or `null` there.
    case at(JSONPath, default: Value? = nil)
}

extension ResponseField: ExpressibleByStringLiteral {
    /// What the answer has at this path.
    public init(stringLiteral path: String) { self = .at(JSONPath(path)) }
}

extension ResponseField: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    /// The path, or that the value is fixed.
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
