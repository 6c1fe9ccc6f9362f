import MQTTCodec

/// A message in a ``MessageMemory``, without a copy of its bytes.
///
/// A view is valid until its message is discarded or moved. Until then, any thread may read it, even while other
/// threads keep, move and discard other messages.
///
/// `@unchecked Sendable` is safe because only the memory makes views, after it has written the message's record and
/// bytes. Later, only ``OutgoingHeader/sentAt`` changes. ``MessageMemory/setSentAt(_:_:)`` describes the lock that
/// separates reads and writes.
package struct MessageView: @unchecked Sendable {
    /// The address of the message's record. The bytes of the message follow the record.
    private let place: UnsafeRawPointer

    /// The offset of a message's bytes from the start of its record.
    @inline(__always) static var start: Int { MemoryLayout<MessageRecord>.stride }

    /// Makes a view of the message whose record is at `place`, followed by all its bytes.
    @inline(__always)
    init(at place: UnsafeRawPointer) { self.place = place }

    /// The header of the message and the sizes of its parts.
    @inline(__always) package var record: MessageRecord { place.load(as: MessageRecord.self) }

    /// The properties, the topic and the payload, one after the other.
    var bytes: UnsafeRawBufferPointer {
        UnsafeRawBufferPointer(start: place + Self.start, count: record.byteCount)
    }

    /// The record and the bytes.
    var recordAndBytes: UnsafeRawBufferPointer {
        UnsafeRawBufferPointer(start: place, count: Self.start &+ record.byteCount)
    }

    /// The values of the message, except its topic, properties and payload.
    package var header: OutgoingHeader { record.header }

    /// Sets ``OutgoingHeader/sentAt``. Only the ``MessageMemory`` that stores the message may call this function.
    @inline(__always)
    func setSentAt(_ time: MonotonicInstant) {
        UnsafeMutableRawPointer(mutating: place).assumingMemoryBound(to: MessageRecord.self).pointee.header.sentAt =
            time
    }

    /// The properties in the encoding of ``MessageMemory/encode(_:hasExpiry:into:)``.
    package var properties: UnsafeRawBufferPointer { part(from: 0, record.propertiesCount) }

    /// The topic in UTF-8. The encoder checks it.
    package var topic: UnsafeRawBufferPointer { part(from: record.propertiesCount, record.topicCount) }

    /// The payload.
    package var payload: UnsafeRawBufferPointer {
        part(from: record.propertiesCount &+ record.topicCount, record.payloadCount)
    }

    /// Returns a part of the bytes. The counts of a record are never negative, and their sum is less than 2 GiB.
    @inline(__always)
    private func part(from offset: Int, _ count: Int) -> UnsafeRawBufferPointer {
        UnsafeRawBufferPointer(start: place + (Self.start &+ offset), count: count)
    }
}
