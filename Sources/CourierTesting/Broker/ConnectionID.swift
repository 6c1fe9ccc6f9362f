/// The number of one network connection to a ``BrokerMachine``. The owner of the connection chooses it.
///
/// A machine must never get the same number twice. Otherwise, a late event of an old connection would affect a newer
/// connection with the same number.
public struct ConnectionID: RawRepresentable, Hashable, Sendable {
    /// The number.
    public let rawValue: UInt64

    /// Makes an id with this number.
    public init(rawValue: UInt64) { self.rawValue = rawValue }
}

extension ConnectionID: Comparable, CustomStringConvertible {
    /// Orders ids by their numbers.
    public static func < (left: Self, right: Self) -> Bool { left.rawValue < right.rawValue }

    /// The number in decimal digits.
    public var description: String { "\(rawValue)" }
}

extension ConnectionID: ExpressibleByIntegerLiteral {
    /// Makes an id from an integer literal.
    public init(integerLiteral value: UInt64) { rawValue = value }
}
