/// The error for a received packet that breaks the specification or a limit of the decoder.
///
/// The connection cannot continue after this error. Send ``reasonCode`` to the peer if the MQTT version allows it, and
/// close the connection.
public struct DecodeError: Error, Hashable, Sendable {
    /// The rule that the packet breaks.
    public let violation: Violation
    /// The type of the packet, or `nil` if the type itself is wrong.
    public let packet: PacketType?
    /// The part of the packet that is wrong.
    public let field: PacketField
    /// The offset of the wrong part, in bytes from the first byte of the packet.
    public let offset: Int

    init(_ violation: Violation, in packet: PacketType?, _ field: PacketField, at offset: Int) {
        self.violation = violation
        self.packet = packet
        self.field = field
        self.offset = offset
    }

    /// The MQTT 5 reason code for the peer. If the wrong packet is a CONNECT, send this code in CONNACK. Otherwise,
    /// send it in DISCONNECT.
    public var reasonCode: PacketReasonCode { violation.reasonCode }
}

extension DecodeError: CustomStringConvertible {
    /// A sentence with the packet type, the field, the offset and the error. The sentence contains no payload bytes and
    /// no secrets.
    public var description: String {
        "\(packet?.description ?? "packet"), \(field) at byte \(offset): \(violation)"
    }
}
