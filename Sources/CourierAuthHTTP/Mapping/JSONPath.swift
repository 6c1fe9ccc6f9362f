/// Where a value stands in a JSON document: member names and list positions, from the outside in.
///
/// As text the steps are joined by dots: `"broker.hosts.0"` is the first of the list `hosts` in the object `broker`. The empty
/// text is the whole document. Names that hold a dot are written as a list: `["example.com", "token"]`.
public struct JSONPath: Hashable, Sendable {
    /// The steps: a member name, or the position in a list as a decimal number.
    public let steps: [String]

    /// A path of these steps.
    ///
    /// - Parameter steps: Member names and list positions, from the outside in.
    public init(_ steps: [String]) { self.steps = steps }

    /// A path from text with dots between the steps.
    ///
    /// - Parameter text: The steps, joined by dots; empty for the whole document.
    public init(_ text: String) {
        steps = text.isEmpty ? [] : text.split(separator: ".", omittingEmptySubsequences: false).map(String.init)
    }
}

extension JSONPath: ExpressibleByStringLiteral, ExpressibleByArrayLiteral, CustomStringConvertible {
    /// The path that the text writes with dots.
    public init(stringLiteral text: String) { self.init(text) }

    /// The path of these steps.
    public init(arrayLiteral steps: String...) { self.init(steps) }

    /// The steps, joined by dots.
    public var description: String { steps.joined(separator: ".") }
}
