/// The number that ties an acknowledgement to its packet: 1 to 65,535, never 0 ([MQTT-2.2.1-3]).
public struct PacketID: RawRepresentable, Hashable, Sendable {
    /// The number as it stands on the wire.
    public let rawValue: UInt16

    /// Makes an id of `rawValue`, or `nil` of 0.
    @inlinable
    public init?(rawValue: UInt16) {
        guard rawValue != 0 else { return nil }
        self.rawValue = rawValue
    }
}

extension PacketID: ExpressibleByIntegerLiteral {
    /// Makes an id of a literal in the source; a literal 0 is a mistake of the programmer and traps.
    public init(integerLiteral value: UInt16) {
        precondition(value != 0, "0 is no packet id")
        rawValue = value
    }
}

extension PacketID: CustomStringConvertible {
    /// The number in decimal digits.
    public var description: String { "\(rawValue)" }
}
