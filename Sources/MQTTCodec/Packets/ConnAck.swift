/// CONNACK: the server's reply to CONNECT.
public struct ConnAck: Hashable, Sendable {
    /// True if the server continues an existing session. If the server refuses the connection, the value is false.
    public var isSessionPresent: Bool
    /// The reason why the server refuses the connection, or ``PacketReasonCode/success``.
    ///
    /// Return codes of versions before MQTT 5 are decoded as the MQTT 5 codes with the same meaning. Code 1 becomes
    /// 0x84, 2 becomes 0x85, 3 becomes 0x88, 4 becomes 0x86, and 5 becomes 0x87.
    public var reasonCode: PacketReasonCode
    /// The properties; none before MQTT 5.
    public var properties: PacketProperties

    /// Creates a CONNACK. By default, it accepts the connection and reports no session.
    public init(
        isSessionPresent: Bool = false, reasonCode: PacketReasonCode = .success, properties: PacketProperties = []
    ) {
        self.isSessionPresent = isSessionPresent
        self.reasonCode = reasonCode
        self.properties = properties
    }
}

extension ConnAck {
    init(from reader: inout ByteReader, _ decoder: PacketDecoder) throws(DecodeError) {
        let version = decoder.version
        let flagsStart = reader.offset
        let flags = try reader.byte(.acknowledgeFlags)
        if flags & 0xFE != 0, version > .v31 {
            throw reader.error(.reservedAcknowledgeFlags, .acknowledgeFlags, at: flagsStart)
        }
        isSessionPresent = flags & 1 != 0 && version > .v31
        reasonCode = version >= .v5 ? try Self.reasonCode(&reader, decoder) : try Self.returnCode(&reader)
        if isSessionPresent, reasonCode != .success {
            throw reader.error(.sessionPresentInRefusal, .acknowledgeFlags, at: flagsStart)
        }
        properties = try reader.properties(at: .connAck, decoder)
        try reader.finish()
    }

    private static func returnCode(_ reader: inout ByteReader) throws(DecodeError) -> PacketReasonCode {
        let byte = try reader.byte(.reasonCode)
        guard let code = PacketReasonCode(oldConnAckCode: byte) else {
            throw reader.error(.invalidReasonCode(byte), .reasonCode, at: reader.offset - 1)
        }
        return code
    }

    /// Reads an MQTT 5 reason code.
    ///
    /// A server that supports only MQTT 3 sends a CONNACK with a body of two bytes: an old return code without
    /// properties. For such a CONNACK, throws ``Violation/connAckOfOlderVersion(_:)``.
    private static func reasonCode(
        _ reader: inout ByteReader, _ decoder: PacketDecoder
    ) throws(DecodeError) -> PacketReasonCode {
        if reader.remaining == 1 {
            let byte = try reader.byte(.reasonCode)
            if (1...5).contains(byte) {
                throw reader.error(.connAckOfOlderVersion(byte), .reasonCode, at: reader.offset - 1)
            }
            throw reader.error(.truncated, .propertyLength)
        }
        return try reader.reasonCode(from: decoder.sender)
    }
}

extension ConnAck: PacketBody {
    func write(to buffer: inout PacketBuffer, _ fields: FieldWriter) throws(EncodeError) {
        if isSessionPresent {
            if reasonCode != .success { throw fields.error(.sessionPresentInRefusal, .acknowledgeFlags) }
            if fields.version == .v31 { throw fields.error(.notInThisVersion, .acknowledgeFlags) }
        }
        buffer.append(isSessionPresent ? 1 : 0 as UInt8)
        if fields.version >= .v5 {
            try fields.reasonCode(reasonCode, into: &buffer)
        } else {
            guard let code = reasonCode.oldConnAckCode else { throw fields.error(.notInThisVersion, .reasonCode) }
            buffer.append(code)
        }
        try fields.properties(properties, at: .connAck, into: &buffer)
    }
}
