/// DISCONNECT: the last packet of a connection; before MQTT 5 only a client sends it, and it says nothing more.
public struct Disconnect: Hashable, Sendable {
    /// Why the connection ends; before MQTT 5 always ``PacketReasonCode/success``, a normal disconnection.
    public var reasonCode: PacketReasonCode
    /// The properties; none before MQTT 5.
    public var properties: PacketProperties

    /// Makes a DISCONNECT; a normal one without properties unless said otherwise.
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
