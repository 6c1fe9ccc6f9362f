/// DISCONNECT: the last packet of a connection. Before MQTT 5, only a client sends it, and it has no reason code.
public struct Disconnect: Hashable, Sendable {
    /// The reason why the connection ends. Before MQTT 5, it is always ``PacketReasonCode/success``, a normal
    /// disconnection.
    public var reasonCode: PacketReasonCode
    /// The properties; none before MQTT 5.
    public var properties: PacketProperties

    /// Creates a DISCONNECT, by default a normal disconnection without properties.
    public init(reasonCode: PacketReasonCode = .success, properties: PacketProperties = []) {
        self.reasonCode = reasonCode
        self.properties = properties
    }
}

extension Disconnect {
    init(from reader: inout ByteReader, _ decoder: PacketDecoder) throws(DecodeError) {
        (reasonCode, properties) = try reader.shortened(decoder)
        try reader.finish()
    }
}

extension Disconnect: PacketBody {
    func write(to buffer: inout PacketBuffer, _ fields: FieldWriter) throws(EncodeError) {
        try fields.shortened(reasonCode, properties, into: &buffer)
    }
}
