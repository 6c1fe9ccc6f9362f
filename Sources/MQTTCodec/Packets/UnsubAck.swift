/// UNSUBACK: the server's reply to UNSUBSCRIBE.
public struct UnsubAck: Hashable, Sendable {
    /// The packet id of the UNSUBSCRIBE.
    public var packetID: PacketID
    /// The result for each filter, in order. MQTT 5 requires at least one code. Older versions have no codes.
    public var reasonCodes: [PacketReasonCode]
    /// The properties; none before MQTT 5.
    public var properties: PacketProperties

    /// Creates an UNSUBACK. Only MQTT 5 allows reason codes and properties.
    public init(packetID: PacketID, reasonCodes: [PacketReasonCode] = [], properties: PacketProperties = []) {
        self.packetID = packetID
        self.reasonCodes = reasonCodes
        self.properties = properties
    }
}

extension UnsubAck {
    init(from reader: inout ByteReader, _ decoder: PacketDecoder) throws(DecodeError) {
        packetID = try reader.packetID()
        properties = try reader.properties(at: .unsubAck, decoder)
        // MQTT 5 has one code for each filter ([MQTT-3.11.3-2]). Older versions have no payload (3.11.3 of 3.1.1).
        reasonCodes = decoder.version >= .v5 ? try reader.reasonCodes(decoder) : []
        try reader.finish()
    }
}

extension UnsubAck: PacketBody {
    func write(to buffer: inout PacketBuffer, _ fields: FieldWriter) throws(EncodeError) {
        buffer.append(packetID.rawValue)
        try fields.properties(properties, at: .unsubAck, into: &buffer)
        if fields.version >= .v5 {
            try fields.reasonCodes(reasonCodes, into: &buffer)
        } else if !reasonCodes.isEmpty {
            throw fields.error(.notInThisVersion, .reasonCode)
        }
    }
}
