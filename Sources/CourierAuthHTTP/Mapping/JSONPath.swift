/// The path to a value in a JSON document: member names and list positions, from the outermost to the innermost.
///
/// In text, dots join the steps: `"broker.hosts.0"` is the first element of the list `hosts` in the object `broker`. An
/// empty text means the whole document. Write a path as a list if a name contains a dot: `["example.com", "token"]`.
public struct JSONPath: Hashable, Sendable {
    /// The steps: member names, and list positions as decimal numbers.
    public let steps: [String]

    /// Creates a path from steps.
    ///
    /// - Parameter steps: Member names and list positions, from the outermost to the innermost.
    public init(_ steps: [String]) { self.steps = steps }

    /// Creates a path from text with dots between the steps.
    ///
    /// - Parameter text: The steps, joined by dots; empty for the whole document.
    public init(_ text: String) {
        steps = text.isEmpty ? [] : text.split(separator: ".", omittingEmptySubsequences: false).map(String.init)
    }
}

extension JSONPath: ExpressibleByStringLiteral, ExpressibleByArrayLiteral, CustomStringConvertible {
    /// Creates a path from text with dots between the steps.
    public init(stringLiteral text: String) { self.init(text) }

    /// Creates a path from steps.
    public init(arrayLiteral steps: String...) { self.init(steps) }

    /// The steps, joined by dots.
    public var description: String { steps.joined(separator: ".") }
}
