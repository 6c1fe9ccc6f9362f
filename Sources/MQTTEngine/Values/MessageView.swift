import MQTTCodec

/// A message in a ``MessageMemory``, without a copy of its bytes.
///
/// A view is valid until its message is discarded or moved. It may be read on any thread until then, also while other
/// threads keep, move and discard other messages.
///
/// `@unchecked Sendable` is safe because nothing writes to a message while the memory keeps the message. Only the memory
/// makes views, of messages whose record and bytes it has written.
package struct MessageView: @unchecked Sendable {
    /// Where the message's record stands, and its bytes behind it.
    private let place: UnsafeRawPointer

    /// How far behind its record a message's bytes begin.
    @inline(__always) static var start: Int { MemoryLayout<MessageRecord>.stride }

    /// The message whose record stands at `place`, with all its bytes behind it.
    @inline(__always)
    init(at place: UnsafeRawPointer) { self.place = place }

    /// The header of the message and the sizes of its parts.
    @inline(__always) package var record: MessageRecord { place.load(as: MessageRecord.self) }

    /// The properties, the topic and the payload, one behind the other.
    var bytes: UnsafeRawBufferPointer {
        UnsafeRawBufferPointer(start: place + Self.start, count: record.byteCount)
    }

    /// The record and the bytes.
    var recordAndBytes: UnsafeRawBufferPointer {
        UnsafeRawBufferPointer(start: place, count: Self.start &+ record.byteCount)
    }

    /// What belongs to the message beside its parts.
    package var header: OutgoingHeader { record.header }

    /// The properties as ``MessageMemory/encode(_:hasExpiry:into:)`` wrote them.
    package var properties: UnsafeRawBufferPointer { part(from: 0, record.propertiesCount) }

    /// The topic in UTF-8. The encoder checks it.
    package var topic: UnsafeRawBufferPointer { part(from: record.propertiesCount, record.topicCount) }

    /// The payload.
    package var payload: UnsafeRawBufferPointer {
        part(from: record.propertiesCount &+ record.topicCount, record.payloadCount)
    }

    /// A part of the bytes. The counts of a record are never negative, and their sum is less than 4 GiB.
    @inline(__always)
    private func part(from offset: Int, _ count: Int) -> UnsafeRawBufferPointer {
        UnsafeRawBufferPointer(start: place + (Self.start &+ offset), count: count)
    }
}
