/// The error for a packet that the encoder refuses, because it breaks the specification or a limit of the peer.
///
/// When this error is thrown, the buffer contains no bytes of the packet.
public struct EncodeError: Error, Hashable, Sendable {
    /// The rule that the packet breaks.
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
    /// A sentence with the packet type, the field and the error.
    public var description: String { "\(packet), \(field): \(violation)" }
}
