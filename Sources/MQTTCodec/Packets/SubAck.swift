/// SUBACK: the server's reply to SUBSCRIBE.
public struct SubAck: Hashable, Sendable {
    /// The packet id of the SUBSCRIBE.
    public var packetID: PacketID
    /// One code for each filter, in order: the granted QoS or the reason for a failure. At least one code is required.
    ///
    /// Before MQTT 5, the only failure is 0x80, ``PacketReasonCode/unspecifiedError``.
    public var reasonCodes: [PacketReasonCode]
    /// The properties; none before MQTT 5.
    public var properties: PacketProperties

    /// Creates a SUBACK, by default without properties.
    public init(packetID: PacketID, reasonCodes: [PacketReasonCode], properties: PacketProperties = []) {
        self.packetID = packetID
        self.reasonCodes = reasonCodes
        self.properties = properties
    }
}

extension SubAck {
    init(from reader: inout ByteReader, _ decoder: PacketDecoder) throws(DecodeError) {
        packetID = try reader.packetID()
        properties = try reader.properties(at: .subAck, decoder)
        reasonCodes = try reader.reasonCodes(decoder)
    }
}

extension SubAck: PacketBody {
    func write(to buffer: inout PacketBuffer, _ fields: FieldWriter) throws(EncodeError) {
        buffer.append(packetID.rawValue)
        try fields.properties(properties, at: .subAck, into: &buffer)
        try fields.reasonCodes(reasonCodes, into: &buffer)
    }
}

extension PacketReasonCode {
    /// True if a SUBACK of a version before MQTT 5 may contain the code ([MQTT-3.9.3-2] of 3.1.1).
    fileprivate var isInOldSubAck: Bool { rawValue <= 2 || self == .unspecifiedError }
}

extension ByteReader {
    /// Reads the reason codes that fill the rest of a SUBACK or UNSUBACK. At least one code is required.
    mutating func reasonCodes(_ decoder: PacketDecoder) throws(DecodeError) -> [PacketReasonCode] {
        guard remaining > 0 else { throw error(.noEntries, .reasonCode) }
        var codes: [PacketReasonCode] = []
        codes.reserveCapacity(remaining)
        while remaining > 0 {
            let code = try reasonCode(from: decoder.sender)
            guard decoder.version >= .v5 || code.isInOldSubAck else {
                throw error(.invalidReasonCode(code.rawValue), .reasonCode, at: offset - 1)
            }
            codes.append(code)
        }
        return codes
    }
}

extension FieldWriter {
    /// Writes the reason codes of a SUBACK or UNSUBACK. At least one code is required.
    func reasonCodes(_ codes: [PacketReasonCode], into buffer: inout PacketBuffer) throws(EncodeError) {
        guard !codes.isEmpty else { throw error(.noEntries, .reasonCode) }
        for code in codes {
            guard version >= .v5 || code.isInOldSubAck else { throw error(.notInThisVersion, .reasonCode) }
            try reasonCode(code, into: &buffer)
        }
    }
}
