import MQTTCodec

/// What is known of a message whose properties, topic and payload stand behind each other in somebody's bytes.
///
/// Together they take less than 4 GiB; ``MessageBatch`` sees to that.
struct MessageRecord {
    let header: OutgoingHeader
    private let counts: (properties: UInt32, topic: UInt32, payload: UInt32)

    init(header: OutgoingHeader, propertiesCount: Int, topicCount: Int, payloadCount: Int) {
        self.header = header
        counts = (UInt32(propertiesCount), UInt32(topicCount), UInt32(payloadCount))
    }

    @inline(__always) var propertiesCount: Int { Int(counts.properties) }
    @inline(__always) var topicCount: Int { Int(counts.topic) }
    @inline(__always) var payloadCount: Int { Int(counts.payload) }

    /// How many bytes the three parts take.
    @inline(__always) var byteCount: Int { propertiesCount &+ topicCount &+ payloadCount }
}

/// A message where its bytes stand, for as long as the function runs that was given it.
///
/// Safe because it is made of a ``MessageBatch`` that is being borrowed, or of a ``MessageStore`` that is not changed before
/// the last look at it; nobody keeps one. That the record and the bytes belong together is checked when it is made.
struct MessageView {
    let record: MessageRecord
    let bytes: UnsafeRawBufferPointer

    @inline(__always)
    init(_ record: MessageRecord, in bytes: UnsafeRawBufferPointer) {
        precondition(bytes.count == record.byteCount, "not the bytes of this message")
        self.record = record
        self.bytes = bytes
    }

    var header: OutgoingHeader { record.header }

    /// As ``MQTTCodec/PacketEncoder/encodePublishProperties(_:hasExpiry:into:)`` writes them.
    var properties: UnsafeRawBufferPointer { UnsafeRawBufferPointer(rebasing: bytes[..<record.propertiesCount]) }

    /// In UTF-8, not checked yet.
    var topic: UnsafeRawBufferPointer {
        UnsafeRawBufferPointer(rebasing: bytes[record.propertiesCount..<(record.propertiesCount + record.topicCount)])
    }

    var payload: UnsafeRawBufferPointer {
        UnsafeRawBufferPointer(rebasing: bytes[(record.propertiesCount + record.topicCount)...])
    }
}
