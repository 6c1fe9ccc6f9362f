import MQTTCodec

/// Skips messages that are larger than ``EngineConfiguration/maximumPacketSize``, before MQTT 5.
///
/// The server does not know the limit, and would send a message of QoS 1 or 2 again on each connection. So the engine
/// discards the payload while it arrives, and acknowledges the message.
extension ClientEngine {
    /// True while the payload of a message is being discarded. If the value is true before or after a call of
    /// ``received(_:now:into:_:)``, all bytes that the call consumed belong to this message.
    public var isSkipping: Bool { link.skippedPublish != nil }

    /// Returns the size of a packet that is too large and that the engine can skip. Returns `nil` if `fault` has
    /// another cause or the engine cannot skip the packet, so that the connection must end.
    func skippableSize(_ fault: Fault) -> Int? {
        guard case .malformed(let error) = fault, case .packetTooLarge(let size, _) = error.violation,
            error.packet == .publish, isConnected, link.version < .v5
        else { return nil }
        return size
    }

    /// Begins to skip the PUBLISH at the start of `bytes`. Returns the size of the part before the payload; 0 if that
    /// part is incomplete.
    mutating func beginSkipping(packetSize: Int, in bytes: UnsafeRawBufferPointer) throws(Fault) -> Int {
        do throws(DecodeError) {
            guard case .frame(let head) = try link.decoder.headOfLargePublish(in: bytes, at: 0) else { return 0 }
            let view = try link.decoder.publish(head, in: bytes)
            link.skippedPublish = SkippedPublish(view, head: head, packetSize: packetSize, in: bytes)
            return head.end
        } catch {
            throw .malformed(error)
        }
    }

    /// Discards at most `count` payload bytes of the message that is being skipped. Returns the number of discarded
    /// bytes.
    mutating func skip(
        atMost count: Int, now: MonotonicInstant, into buffer: inout PacketBuffer, _ actions: inout ActionList
    ) -> Int {
        guard var publish = link.skippedPublish else { return 0 }
        let discarded = publish.discard(atMost: count)
        delayAnswerTimeouts(now: now)
        if publish.missingByteCount > 0 {
            link.skippedPublish = publish
        } else {
            link.skippedPublish = nil
            skipped(publish, now: now, into: &buffer, &actions)
        }
        return discarded
    }

    /// Acknowledges a skipped message as if the caller had received it, and reports it. A repetition of a QoS 2 message
    /// is not reported.
    private mutating func skipped(
        _ publish: SkippedPublish, now: MonotonicInstant, into buffer: inout PacketBuffer, _ actions: inout ActionList
    ) {
        if case .exactlyOnce(let id, let isDuplicate) = publish.delivery {
            let isNew = isNewQoS2(
                id, isDuplicate: isDuplicate, fingerprint: publish.fingerprint, now: now, into: &buffer, &actions)
            guard isNew else { return }
        }
        if let id = publish.delivery.packetID {
            let handle = incoming.hand(id, publish.delivery.qos)
            _ = incoming.answer(handle, with: .success)
            writeAnswers(now: now, into: &buffer, &actions)
        }
        actions.append(.skipped(publish.message))
    }
}
