/// A packet that the encoder refuses to write, because no decoder may accept it or because it is over a limit of the peer.
///
/// Nothing of the packet is in the buffer when it is thrown.
public struct EncodeError: Error, Hashable, Sendable {
    /// What is wrong.
    public let violation: Violation
    /// The type of the packet.
    public let packet: PacketType
    /// The part of the packet that is wrong.
    public let field: PacketField

    package init(_ violation: Violation, in packet: PacketType, _ field: PacketField) {
        self.violation = violation
        self.packet = packet
        self.field = field
    }
}

extension EncodeError: CustomStringConvertible {
    /// A sentence with the packet, the field and what is wrong.
    public var description: String { "\(packet), \(field): \(violation)" }
}
