/// A packet id: the number that matches an acknowledgement to its packet. The number is from 1 to 65,535, never 0
/// ([MQTT-2.2.1-3]).
public struct PacketID: RawRepresentable, Hashable, Sendable {
    /// The number that is sent on the wire.
    public let rawValue: UInt16

    /// Creates a packet id; `nil` if `rawValue` is 0.
    @inlinable
    public init?(rawValue: UInt16) {
        guard rawValue != 0 else { return nil }
        self.rawValue = rawValue
    }
}

extension PacketID: ExpressibleByIntegerLiteral {
    /// Creates a packet id from an integer literal. The literal 0 is a programming error and traps.
    public init(integerLiteral value: UInt16) {
        precondition(value != 0, "0 is not a valid packet id")
        rawValue = value
    }
}

extension PacketID: CustomStringConvertible {
    /// The number in decimal digits.
    public var description: String { "\(rawValue)" }
}
