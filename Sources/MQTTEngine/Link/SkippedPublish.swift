import MQTTCodec

/// A PUBLISH whose payload is being discarded, because the packet is larger than the limit.
struct SkippedPublish {
    let message: SkippedMessage
    /// The QoS, packet id and DUP flag of the message.
    let delivery: Delivery
    /// The number of payload bytes that have not arrived yet.
    private(set) var missingByteCount: Int

    /// Creates the state of a message whose payload will be discarded. `head` is the part of the packet before the
    /// payload.
    init(_ view: PublishView, head: PacketFrame, packetSize: Int, in bytes: UnsafeRawBufferPointer) {
        let payloadSize = packetSize - head.byteCount
        message = SkippedMessage(
            topic: bytes.bytes.extracting(view.topic).withUnsafeBytes { Array($0) }, qos: view.delivery.qos,
            packetSize: packetSize, payloadSize: payloadSize)
        delivery = view.delivery
        missingByteCount = payloadSize
    }

    /// Discards at most `count` bytes of the payload. Returns the number of discarded bytes.
    mutating func discard(atMost count: Int) -> Int {
        let discarded = min(count, missingByteCount)
        missingByteCount -= discarded
        return discarded
    }

    /// A fingerprint that distinguishes the message from other messages with the same packet id. The payload is not
    /// available, so the fingerprint uses the size of the payload instead.
    var fingerprint: UInt32 {
        let size = withUnsafeBytes(of: UInt64(message.payloadSize).littleEndian) { Array($0) }
        return message.topic.withBytes { topic in size.withBytes { UInt32(fingerprintOf: topic, $0) } }
    }
}
