/// AUTH: one step of an extended authentication (MQTT 5 only).
public struct Auth: Hashable, Sendable {
    /// The state of the authentication: the authentication starts again, continues, or has succeeded.
    public var reasonCode: PacketReasonCode
    /// The properties. They must contain the authentication method (3.15.2.2.2). Only a packet with the reason code
    /// success may have an empty list.
    public var properties: PacketProperties

    /// Creates an AUTH packet.
    public init(reasonCode: PacketReasonCode, properties: PacketProperties) {
        self.reasonCode = reasonCode
        self.properties = properties
    }
}

extension Auth {
    /// True if the packet reports success and has no properties. Then its body is empty (3.15.2.1), and no method is
    /// required.
    private var isEmpty: Bool { reasonCode == .success && properties.isEmpty }

    init(from reader: inout ByteReader, _ decoder: PacketDecoder) throws(DecodeError) {
        guard reader.remaining > 0 else {
            guard PacketReasonCode.success.isAllowed(in: .auth, from: decoder.sender) else {
                throw reader.error(.invalidReasonCode(PacketReasonCode.success.rawValue), .reasonCode)
            }
            self.init(reasonCode: .success, properties: [])
            return
        }
        let code = try reader.reasonCode(from: decoder.sender)
        let range = reader.remaining > 0 ? try reader.propertyRange(in: decoder.version) : reader.end..<reader.end
        let properties = try reader.properties(in: range, at: .auth, decoder)
        try reader.finish()
        guard properties.authenticationMethod != nil else {
            throw reader.error(.missingAuthenticationMethod, .properties, at: range.lowerBound)
        }
        self.init(reasonCode: code, properties: properties)
    }
}

extension Auth: PacketBody {
    func write(to buffer: inout PacketBuffer, _ fields: FieldWriter) throws(EncodeError) {
        guard reasonCode.isAllowed(in: .auth, from: fields.sender) else {
            throw fields.error(.invalidReasonCode(reasonCode.rawValue), .reasonCode)
        }
        try fields.shortened(reasonCode, properties, into: &buffer)
        if !isEmpty, properties[.authenticationMethod] == nil {
            throw fields.error(.missingAuthenticationMethod, .properties)
        }
    }
}
