/// PUBACK, PUBREC, PUBREL or PUBCOMP: one step in the delivery of a QoS 1 or 2 message.
public struct Acknowledgement: Hashable, Sendable {
    /// The packet id of the PUBLISH.
    public var packetID: PacketID
    /// The result. Before MQTT 5, it is always ``PacketReasonCode/success``.
    public var reasonCode: PacketReasonCode
    /// The properties; none before MQTT 5.
    public var properties: PacketProperties

    /// The size of an acknowledgement without a reason code, in bytes.
    package static let smallestPacketSize = 4

    /// Creates an acknowledgement, by default of success and without properties.
    public init(packetID: PacketID, reasonCode: PacketReasonCode = .success, properties: PacketProperties = []) {
        self.packetID = packetID
        self.reasonCode = reasonCode
        self.properties = properties
    }
}

/// A PUBACK, PUBREC, PUBREL or PUBCOMP that was read without copying. The properties are a range of the received bytes.
public struct AcknowledgementView: Hashable, Sendable {
    /// The packet id of the PUBLISH.
    public let packetID: PacketID
    /// The result. Before MQTT 5, it is always ``PacketReasonCode/success``.
    public let reasonCode: PacketReasonCode
    /// The byte range of the properties, without their length. The range is empty if there are no properties.
    public let properties: Range<Int>
}

extension AcknowledgementView {
    @inline(__always)
    init(from reader: inout ByteReader, _ decoder: PacketDecoder) throws(DecodeError) {
        packetID = try reader.packetID()
        // A missing reason code means success (MQTT 5.0, section 3.4.2.1).
        if reader.remaining == 0 || decoder.version < .v5 {
            reasonCode = .success
            properties = reader.offset..<reader.offset
        } else {
            reasonCode = try reader.reasonCode(from: decoder.sender)
            properties = try Self.properties(from: &reader, decoder)
        }
        try reader.finish()
    }

    /// Checks the properties and returns their range. The properties and their length may be omitted (MQTT 5.0, section
    /// 3.4.2.2.1).
    private static func properties(
        from reader: inout ByteReader, _ decoder: PacketDecoder
    ) throws(DecodeError) -> Range<Int> {
        guard reader.remaining > 0 else { return reader.offset..<reader.offset }
        let range = try reader.propertyRange(in: decoder.version)
        var properties = PropertyReader(
            ByteReader(range, of: reader), at: PropertyPlaces(reader.packet), decoder)
        while try properties.next() != nil {}
        return range
    }
}

extension Acknowledgement {
    init(from reader: inout ByteReader, _ decoder: PacketDecoder) throws(DecodeError) {
        let view = try AcknowledgementView(from: &reader, decoder)
        self.init(
            packetID: view.packetID, reasonCode: view.reasonCode,
            properties: try reader.properties(in: view.properties, at: PropertyPlaces(reader.packet), decoder))
    }
}

extension Acknowledgement: PacketBody {
    func write(to buffer: inout PacketBuffer, _ fields: FieldWriter) throws(EncodeError) {
        buffer.append(packetID.rawValue)
        try fields.shortened(reasonCode, properties, into: &buffer)
    }
}

extension FieldWriter {
    /// Writes a reason code and properties in the shortest form. Writes nothing for success without properties. Writes
    /// only the code if there are no properties. Before MQTT 5, only success without properties is allowed.
    func shortened(
        _ code: PacketReasonCode, _ properties: PacketProperties, into buffer: inout PacketBuffer
    ) throws(EncodeError) {
        if code == .success, properties.isEmpty { return }
        guard version >= .v5 else {
            throw error(.notInThisVersion, code == .success ? .properties : .reasonCode)
        }
        try reasonCode(code, into: &buffer)
        if !properties.isEmpty { try self.properties(properties, at: PropertyPlaces(packet), into: &buffer) }
    }
}

extension ByteReader {
    /// Reads a reason code and properties. A packet may omit the properties, or the code and the properties.
    mutating func shortened(
        _ decoder: PacketDecoder
    ) throws(DecodeError) -> (code: PacketReasonCode, properties: PacketProperties) {
        guard remaining > 0, decoder.version >= .v5 else { return (.success, []) }
        let code = try reasonCode(from: decoder.sender)
        guard remaining > 0 else { return (code, []) }
        return (code, try properties(at: PropertyPlaces(packet), decoder))
    }
}
