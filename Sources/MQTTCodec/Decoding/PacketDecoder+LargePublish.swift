/// Reads the start of a PUBLISH that is larger than the limit, for a receiver that discards the payload.
extension PacketDecoder {
    /// Returns the head of the PUBLISH that starts at `start`, or the number of missing bytes of the head. The head
    /// consists of the fixed header, the topic name and the packet id. The returned frame ends where the payload
    /// begins.
    ///
    /// Call this function only before MQTT 5, and only after ``frame(in:at:)`` threw
    /// ``Violation/packetTooLarge(size:limit:)`` for the same bytes. That call has checked the fixed header.
    ///
    /// - Throws: ``DecodeError`` if the head alone is larger than the limit.
    @inline(never)
    package func headOfLargePublish(in bytes: UnsafeRawBufferPointer, at start: Int) throws(DecodeError) -> Next {
        precondition(version < .v5, "the head of an MQTT 5 PUBLISH contains properties")
        guard bytes.count &- start >= 2,
            case .value(let remainingLength, let lengthSize) = VariableByteInteger.read(
                bytes, at: start &+ 1, end: bytes.count)
        else { return .needsMore(1) }
        let bodyStart = start &+ 1 &+ lengthSize
        let topicStart = bodyStart &+ 2
        guard bytes.count >= topicStart else { return .needsMore(topicStart &- bytes.count) }
        let flags = bytes[start] & 0x0F
        func frame(to end: Int) -> PacketFrame {
            PacketFrame(type: .publish, flags: flags, start: start, bodyStart: bodyStart, end: end)
        }
        var reader = ByteReader(frame(to: topicStart), in: bytes)
        let topicSize = Int(try reader.uint16(.topicName))
        let headEnd = topicStart &+ topicSize &+ PublishView.packetIDSize(flags: flags)
        guard headEnd &- start <= limits.maximumPacketSize else {
            let size = 1 &+ lengthSize &+ Int(remainingLength)
            throw DecodeError(
                .packetTooLarge(size: size, limit: limits.maximumPacketSize), in: .publish, .remainingLength, at: 1)
        }
        guard bytes.count >= headEnd else { return .needsMore(headEnd &- bytes.count) }
        return .frame(frame(to: headEnd))
    }
}
