/// The caller's name for something it asked the engine to do; the outcome comes back under the same name.
public struct Token: BitwiseCopyable, RawRepresentable, Hashable, Sendable {
    /// Whatever the caller chose; the engine only hands it back.
    public let rawValue: UInt64

    /// Makes a token of the caller's choice.
    public init(rawValue: UInt64) { self.rawValue = rawValue }
}

extension Token: ExpressibleByIntegerLiteral {
    /// Makes a token of a literal.
    public init(integerLiteral value: UInt64) { rawValue = value }
}
