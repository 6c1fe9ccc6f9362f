/// UNSUBSCRIBE: a client ends its subscriptions to topic filters.
public struct Unsubscribe: Hashable, Sendable {
    /// The packet id, which the UNSUBACK repeats.
    public var packetID: PacketID
    /// The filters, exactly as in the SUBSCRIBE. At least one filter is required ([MQTT-3.10.3-2]).
    public var filters: [String]
    /// The properties; none before MQTT 5.
    public var properties: PacketProperties

    /// Creates an UNSUBSCRIBE, by default without properties.
    public init(packetID: PacketID, filters: [String], properties: PacketProperties = []) {
        self.packetID = packetID
        self.filters = filters
        self.properties = properties
    }
}

extension Unsubscribe {
    init(from reader: inout ByteReader, _ decoder: PacketDecoder) throws(DecodeError) {
        packetID = try reader.packetID()
        properties = try reader.properties(at: .unsubscribe, decoder)
        filters = []
        repeat {
            guard reader.remaining > 0 else { throw reader.error(.noEntries, .topicFilter) }
            try reader.checkFilterCount(filters.count, decoder)
            filters.append(reader.string(try reader.topicFilter(knowsSharing: decoder.version >= .v5)))
        } while reader.remaining > 0
    }
}

extension Unsubscribe: PacketBody {
    func write(to buffer: inout PacketBuffer, _ fields: FieldWriter) throws(EncodeError) {
        guard !filters.isEmpty else { throw fields.error(.noEntries, .topicFilter) }
        buffer.append(packetID.rawValue)
        try fields.properties(properties, at: .unsubscribe, into: &buffer)
        for filter in filters { try fields.topicFilter(filter, into: &buffer) }
    }
}
