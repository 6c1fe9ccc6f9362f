import MQTTCodec

/// Properties of a packet that are read from its bytes, without formatting the row.
extension RawRow {
    /// The offset of the first byte after the fixed header, or `nil` if the fixed header is incomplete.
    private var bodyStart: Int? {
        let bytes = slab.bytes
        var index = range.lowerBound + 1
        while index < min(range.upperBound, range.lowerBound + 5) {
            if bytes[index] < 0x80 { return index + 1 }
            index += 1
        }
        return nil
    }

    private func number(at index: Int) -> UInt16? {
        guard index + 2 <= range.upperBound else { return nil }
        return UInt16(slab.bytes[index]) << 8 | UInt16(slab.bytes[index + 1])
    }

    /// The position of a PUBLISH topic in the bytes of the slab.
    var topicRange: Range<Int>? {
        guard type == .publish, let body = bodyStart, let length = number(at: body),
            body + 2 + Int(length) <= range.upperBound
        else { return nil }
        return body + 2..<body + 2 + Int(length)
    }

    /// The DUP flag in the bytes of a PUBLISH. It is read from the bytes, because a broker may set the flag with QoS 0,
    /// and the decoder then ignores it.
    var isDuplicate: Bool { type == .publish && firstByte & 0b1000 != 0 }

    /// The packet id, or `nil` if the packet has none.
    var packetID: UInt16? {
        switch type {
        case .publish:
            guard firstByte & 0b110 != 0, let topic = topicRange else { return nil }
            return number(at: topic.upperBound)
        case .pubAck, .pubRec, .pubRel, .pubComp, .subscribe, .subAck, .unsubscribe, .unsubAck:
            return bodyStart.flatMap { number(at: $0) }
        case .connect, .connAck, .pingReq, .pingResp, .disconnect, .auth, nil: return nil
        }
    }

    /// The reason codes of a packet other than PUBLISH.
    var reasons: [MQTTChuckReason] {
        guard type != .publish, case .success(let packet) = RowReader.packet(self) else { return [] }
        return PacketFacts(packet, version: connection.codecVersion).reasons
    }

    /// True if the packet cannot be decoded or reports a failure. A cut PUBLISH is not an error.
    var isError: Bool {
        if isCut { return type != .publish }
        switch RowReader.packet(self) {
        case .success(let packet):
            return PacketFacts(packet, version: connection.codecVersion).reasons.contains { $0.isError }
        case .failure: return true
        }
    }
}
