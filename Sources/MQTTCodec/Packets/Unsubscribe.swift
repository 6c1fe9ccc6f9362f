/// UNSUBSCRIBE: a client wants no more messages for filters.
public struct Unsubscribe: Hashable, Sendable {
    /// The id that the UNSUBACK will carry.
    public var packetID: PacketID
    /// The filters, as they were subscribed; at least one ([MQTT-3.10.3-2]).
    public var filters: [String]
    /// The properties; none before MQTT 5.
    public var properties: PacketProperties

    /// Makes an UNSUBSCRIBE; without properties unless said otherwise.
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
