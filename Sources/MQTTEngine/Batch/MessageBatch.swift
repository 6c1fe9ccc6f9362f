public import MQTTCodec

/// Messages to publish, one behind the other in one run of bytes.
///
/// This is how messages cross from callers' threads to an engine's: a caller copies the bytes once, under whatever lock
/// guards the batch, and nothing that is reference-counted goes along. Emptied, a batch keeps its memory.
///
/// ```swift
/// var batch = MessageBatch()
/// batch.append(OutgoingHeader(qos: .atLeastOnce, token: 7), topic: "a/b", payload: bytes.span.bytes)
/// engine.publish(batch, now: clock.now, into: &buffer, &actions)
/// batch.removeAll()
/// ```
public struct MessageBatch: ~Copyable, Sendable {
    enum Entry {
        case message(MessageRecord)
        /// Its properties cannot be written; the index of the reason.
        case refused(Token, Int)
    }

    /// What is longer is cut to this, 1 GiB, which is four times what a packet can hold and refused all the same.
    private static var largestPart: Int { 1 << 30 }

    private var entries: [Entry] = []
    private var bytes = PacketBuffer()
    private var errors: [EncodeError] = []

    /// Makes an empty batch.
    public init() {}

    /// How many messages there are.
    public var count: Int { entries.count }

    /// Whether there is none.
    public var isEmpty: Bool { entries.isEmpty }

    /// How many bytes their topics, properties and payloads take together.
    public var byteCount: Int { bytes.count }

    /// Adds `message` at the end.
    public mutating func append(_ message: OutgoingMessage) {
        append(
            message.header, topic: message.topic, payload: message.payload.span.bytes, properties: message.properties)
    }

    /// Adds a message of these parts at the end.
    ///
    /// What is wrong with the message is reported when it is published, as ``EngineAction/failed(_:_:)``.
    public mutating func append(
        _ header: OutgoingHeader, topic: String, payload: RawSpan, properties: PacketProperties = []
    ) {
        let start = bytes.count
        if !properties.isEmpty {
            do throws(EncodeError) {
                let encoder = PacketEncoder(version: .v5, sender: .client)
                try encoder.encodePublishProperties(properties, hasExpiry: header.expiresAt != nil, into: &bytes)
            } catch {
                entries.append(.refused(header.token, errors.count))
                errors.append(error)
                return
            }
        }
        let propertiesCount = bytes.count &- start
        let topic = topic.utf8Span.span.bytes.extracting(first: Self.largestPart)
        let payload = payload.extracting(first: Self.largestPart)
        bytes.append(topic)
        bytes.append(payload)
        entries.append(
            .message(
                MessageRecord(
                    header: header, propertiesCount: propertiesCount, topicCount: topic.byteCount,
                    payloadCount: payload.byteCount)))
    }

    /// Takes all messages away and keeps the memory.
    public mutating func removeAll() {
        entries.removeAll(keepingCapacity: true)
        bytes.removeAll()
        if !errors.isEmpty { errors = [] }
    }

    /// Gives the memory back if the batch is empty and has room for more than `limit` bytes.
    public mutating func trim(above limit: Int) {
        guard isEmpty else { return }
        bytes.trim(above: limit)
        if entries.capacity * MemoryLayout<Entry>.stride > limit { entries = [] }
    }

    /// Calls one of the functions with each message, in order.
    @inline(__always)
    func forEach(message: (MessageView) -> Void, refused: (Token, EncodeError) -> Void) {
        bytes.withBytes { bytes in
            bytes.withUnsafeBytes { bytes in
                var start = 0
                for entry in entries {
                    switch entry {
                    case .message(let record):
                        let end = start &+ record.byteCount
                        message(MessageView(record, in: UnsafeRawBufferPointer(rebasing: bytes[start..<end])))
                        start = end
                    case .refused(let token, let index): refused(token, errors[index])
                    }
                }
            }
        }
    }
}
