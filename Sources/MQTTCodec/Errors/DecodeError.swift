/// A packet from the peer that breaks the specification, or a limit of the decoder.
///
/// The connection cannot continue after it: answer with ``reasonCode`` where the version of MQTT allows it, and close.
public struct DecodeError: Error, Hashable, Sendable {
    /// What is wrong.
    public let violation: Violation
    /// The type of the packet; `nil` when the type itself is wrong.
    public let packet: PacketType?
    /// The part of the packet that is wrong.
    public let field: PacketField
    /// Where that part starts, in bytes from the first byte of the packet.
    public let offset: Int

    init(_ violation: Violation, in packet: PacketType?, _ field: PacketField, at offset: Int) {
        self.violation = violation
        self.packet = packet
        self.field = field
        self.offset = offset
    }

    /// The MQTT 5 reason code to answer with, in DISCONNECT, or in CONNACK when the packet is a CONNECT.
    public var reasonCode: PacketReasonCode { violation.reasonCode }
}

extension DecodeError: CustomStringConvertible {
    /// A sentence with the packet, the field, the offset and what is wrong; it contains no byte of a payload or secret.
    public var description: String {
        "\(packet?.description ?? "packet"), \(field) at byte \(offset): \(violation)"
    }
}
