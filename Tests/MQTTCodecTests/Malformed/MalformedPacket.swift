import MQTTCodec

/// A packet that breaks the specification, and the error that the decoder must throw.
struct MalformedPacket: Sendable {
    /// What is wrong with the packet. Each row has another name.
    let name: String
    /// The version of the decoder.
    let version: ProtocolVersion
    /// The endpoint that sends the packet.
    let sender: Endpoint
    /// The bytes of the whole packet, or only its first bytes if they are enough to refuse the packet.
    let hex: String
    let violation: Violation
    let field: PacketField
    let offset: Int
    /// The MQTT 5 reason code that the receiver sends.
    let answer: PacketReasonCode
    /// The broken statement, or section without numbered statements, in the specification of ``version``.
    ///
    /// The specification of MQTT 3.1 has no numbered statements. Its rows name the same statement in 3.1.1.
    let clause: String
    let limits: PacketDecoder.Limits

    init(
        _ name: String, _ version: ProtocolVersion, _ sender: Endpoint, _ hex: String,
        _ violation: Violation, _ field: PacketField, _ offset: Int, _ answer: PacketReasonCode, _ clause: String,
        limits: PacketDecoder.Limits = PacketDecoder.Limits()
    ) {
        self.name = name
        self.version = version
        self.sender = sender
        self.hex = hex
        self.violation = violation
        self.field = field
        self.offset = offset
        self.answer = answer
        self.clause = clause
        self.limits = limits
    }

    var decoder: PacketDecoder { PacketDecoder(version: version, sender: sender, limits: limits) }
}

extension PacketDecoder.Limits {
    static let sixteenBytes = Self(maximumPacketSize: 16)
    static let twoFilters = Self(maximumFilters: 2)
    static let twoProperties = Self(maximumProperties: 2)
}

extension MalformedPacket {
    /// All malformed packets. `Scripts/portable` decodes this table as Embedded Swift, too.
    static let table = [
        fixedHeaders, remainingLengths, truncatedFields, trailingBytes, illFormedText, topics, packetIDs,
        qualitiesOfService, connections, reasonCodes, emptyLists, misplacedProperties, repeatedProperties,
        propertyValues, propertyIdentifiers, propertyLengths, authentication,
    ].flatMap { $0 }
}
