import MQTTCodec

/// A message in a ``MessageMemory``, without a copy of its bytes.
///
/// A view is valid until its message is discarded or moved. It may be read on any thread until then, also while other
/// threads keep, move and discard other messages.
///
/// `@unchecked Sendable` is safe because nothing writes to the bytes of a message while the memory keeps the message. The
/// initializer checks that the record and the bytes belong together.
package struct MessageView: @unchecked Sendable {
    /// The header of the message and the sizes of its parts.
    package let record: MessageRecord
    /// The properties, the topic and the payload, one behind the other.
    let bytes: UnsafeRawBufferPointer

    @inline(__always)
    init(_ record: MessageRecord, in bytes: UnsafeRawBufferPointer) {
        precondition(bytes.count == record.byteCount, "not the bytes of this message")
        self.record = record
        self.bytes = bytes
    }

    /// What belongs to the message beside its parts.
    package var header: OutgoingHeader { record.header }

    /// The properties as ``MessageMemory/encode(_:hasExpiry:into:)`` wrote them.
    package var properties: UnsafeRawBufferPointer {
        UnsafeRawBufferPointer(rebasing: bytes[..<record.propertiesCount])
    }

    /// The topic in UTF-8. The encoder checks it.
    package var topic: UnsafeRawBufferPointer {
        UnsafeRawBufferPointer(rebasing: bytes[record.propertiesCount..<(record.propertiesCount + record.topicCount)])
    }

    /// The payload.
    package var payload: UnsafeRawBufferPointer {
        UnsafeRawBufferPointer(rebasing: bytes[(record.propertiesCount + record.topicCount)...])
    }
}
