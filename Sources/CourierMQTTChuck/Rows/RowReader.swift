import CourierCore
import MQTTCodec

/// Formats packets as rows. It accepts any bytes: a packet that cannot be decoded becomes a row with a problem.
struct RowReader {
    let payloads: PayloadReader

    init(_ options: MQTTChuckOptions) { payloads = PayloadReader(options) }

    /// Decodes the packet of a row, or returns the reason why it cannot be decoded.
    static func packet(_ raw: RawRow) -> Result<Packet, RowProblem> {
        if raw.isCut { return .failure(RowProblem("cut off after \(raw.range.count) of \(raw.size) bytes")) }
        guard raw.isWhole else { return .failure(RowProblem("not a whole packet")) }
        let decoder = decoder(raw)
        return raw.slab.bytes.withBytes { bytes in
            do throws(DecodeError) {
                guard case .frame(let frame) = try decoder.nextFrame(in: bytes, at: raw.range.lowerBound) else {
                    return .failure(RowProblem("not a whole packet"))
                }
                return .success(try decoder.packet(frame, in: bytes))
            } catch {
                return .failure(RowProblem(error.description))
            }
        }
    }

    private static func decoder(_ raw: RawRow) -> PacketDecoder {
        PacketDecoder(
            version: raw.connection.codecVersion, sender: raw.direction == .outgoing ? .client : .server,
            limits: PacketDecoder.Limits(maximumPacketSize: PacketEncoder.largestPacketSize))
    }

    /// Returns the row of a packet. If the packet begins an exchange, the caller must add the exchange's round trip to
    /// the row.
    func row(_ raw: RawRow, isWhole wantsAll: Bool = false) -> MQTTChuckRow {
        var row = MQTTChuckRow(raw)
        if let link = raw.link {
            row.exchange = link.start
            row.elapsed = .nanoseconds(link.elapsed)
            if link.isLast { row.roundTrip = row.elapsed }
        }
        switch Self.packet(raw) {
        case .success(let packet): fill(&row, packet, raw, wantsAll)
        case .failure(let problem):
            if raw.isCut, raw.type == .publish { fillCut(&row, raw) } else { row.problem = problem.sentence }
        }
        return row
    }

    private func fill(_ row: inout MQTTChuckRow, _ packet: Packet, _ raw: RawRow, _ wantsAll: Bool) {
        let facts = PacketFacts(packet, version: raw.connection.codecVersion)
        row.packetID = facts.packetID
        row.reasons = facts.reasons
        row.properties = facts.properties.list.map(MQTTChuckProperty.init)
        row.topic = facts.topic
        if facts.beginsExchange, row.exchange == nil { row.exchange = row.number }
        guard case .publish(let publish) = packet else { return }
        row.qos = publish.delivery.qos
        row.isDuplicate = raw.isDuplicate
        row.isRetained = publish.isRetained
        row.topicAlias = publish.properties.topicAlias
        if publish.topic.isEmpty { row.topic = raw.aliasTopic }
        row.payloadSize = publish.payload.count
        row.preview = payloads.preview(
            publish.payload[...], topic: row.topic ?? "", contentType: publish.properties.contentType, isPart: false,
            isWhole: wantsAll)
    }

    /// Fills the row of a PUBLISH that was too large to be stored whole. Only its first bytes are read.
    private func fillCut(_ row: inout MQTTChuckRow, _ raw: RawRow) {
        row.qos = PacketQoS(rawValue: (raw.firstByte >> 1) & 0b11)
        row.isDuplicate = raw.isDuplicate
        row.isRetained = raw.firstByte & 1 != 0
        guard let start = CutPublish(raw) else {
            row.problem = "the recorded part ends before the payload"
            return
        }
        row.topic = start.topic
        row.packetID = start.packetID
        row.properties = start.properties.list.map(MQTTChuckProperty.init)
        if row.exchange == nil, start.packetID != nil { row.exchange = row.number }
        row.payloadSize = raw.size - start.payloadOffset
        row.preview = payloads.preview(
            raw.slab.bytes[(raw.range.lowerBound + start.payloadOffset)..<raw.range.upperBound],
            topic: start.topic, contentType: nil, isPart: true)
    }
}

/// The reason why a packet cannot be decoded.
struct RowProblem: Error {
    let sentence: String
    init(_ sentence: String) { self.sentence = sentence }
}
