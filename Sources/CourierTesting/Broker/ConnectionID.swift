/// The name of one network connection to a ``BrokerMachine``, chosen by whoever owns the connection.
///
/// A number must never be used twice in the life of a machine, so that late news about a connection cannot be mistaken
/// for news about its successor.
public struct ConnectionID: RawRepresentable, Hashable, Sendable {
    /// The number.
    public let rawValue: UInt64

    /// Makes an id of `rawValue`.
    public init(rawValue: UInt64) { self.rawValue = rawValue }
}

extension ConnectionID: Comparable, CustomStringConvertible {
    /// Orders ids by their numbers.
    public static func < (left: Self, right: Self) -> Bool { left.rawValue < right.rawValue }

    /// The number in decimal digits.
    public var description: String { "\(rawValue)" }
}

extension ConnectionID: ExpressibleByIntegerLiteral {
    /// Makes an id of a literal in the source.
    public init(integerLiteral value: UInt64) { rawValue = value }
}
