/// Identifies a message or request of the caller. The engine reports the outcome with the same token.
public struct Token: BitwiseCopyable, RawRepresentable, Hashable, Sendable {
    /// The number that the caller chose. The engine does not interpret the number, and only returns it.
    public let rawValue: UInt64

    /// Makes a token from a number that the caller chooses.
    public init(rawValue: UInt64) { self.rawValue = rawValue }
}

extension Token: ExpressibleByIntegerLiteral {
    /// Makes a token from a literal.
    public init(integerLiteral value: UInt64) { rawValue = value }
}
