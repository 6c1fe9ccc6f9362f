package import MQTTCodec

/// Stores the bytes of messages that wait, or that may have to be sent again.
///
/// Each message is stored as a record, which contains the header and the sizes, followed by the bytes. Messages are
/// written one after the other into slabs (large memory blocks) of at most ``largestSlab`` bytes. A longer message gets
/// its own slab. When the last message in a slab is discarded, the slab is used again or its memory is freed. So a
/// message allocates no memory if a slab has room. A message that remains for a long time retains only one slab.
///
/// **A kept message never moves, and nothing overwrites it, until the owner discards it or calls ``moved(_:)``.** So a
/// ``MessageView`` may be read without the lock that must guard this value. Other threads may keep, move and discard
/// other messages at the same time. The owner must discard a message only after the last use of its views.
///
/// `@usableFromInline` makes `deinit` visible to other modules. In Embedded Swift, a module that contains an engine
/// needs this attribute.
///
/// `@unchecked Sendable` is safe because this value alone owns the slabs and cannot be copied. `used <= capacity` holds
/// for each slab. Only this type creates places. Each place is within `used`, and every use of a place checks this
/// condition.
@usableFromInline
package struct MessageMemory: ~Copyable, @unchecked Sendable {
    /// The location of a message: its slab (memory block), and its offset and size in the slab.
    package struct Place: Sendable {
        // 32 bits are enough, because there are fewer than 2^32 slabs (memory blocks), each smaller than 2 GiB.
        private let numbers: (slab: UInt32, offset: UInt32, byteCount: UInt32)

        fileprivate init(slab: Int, offset: Int, byteCount: Int) {
            numbers = (UInt32(slab), UInt32(offset), UInt32(byteCount))
        }

        @inline(__always) fileprivate var slab: Int { Int(numbers.slab) }
        @inline(__always) fileprivate var offset: Int { Int(numbers.offset) }
        /// The number of bytes that the message uses, with its record.
        @inline(__always) fileprivate var byteCount: Int { Int(numbers.byteCount) }
    }

    /// A list of messages, stored as their places, that are discarded together at a later time.
    package struct SpentPlaces {
        /// The places, in groups. Consecutive places in one slab (memory block) form one element, because consecutive
        /// messages nearly always share a slab.
        fileprivate var runs: [(slab: Int, count: Int, byteCount: Int)] = []

        package init() {}

        package mutating func add(_ place: Place) {
            let byteCount = place.byteCount
            if let last = runs.indices.last, runs[last].slab == place.slab {
                runs[last].count &+= 1
                runs[last].byteCount &+= byteCount
            } else {
                runs.append((place.slab, 1, byteCount))
            }
        }
    }

    private struct Slab {
        let memory: UnsafeMutableRawPointer
        /// The size of the slab (memory block) in bytes; 0 after its memory was freed.
        let capacity: Int
        var used = 0
        /// The number of messages in the slab (memory block) that were not discarded.
        var live = 0

        var room: Int { capacity &- used }

        /// Reserves the next `count` bytes of the slab (memory block) for a message, and returns their offset.
        mutating func take(_ count: Int) -> Int {
            let offset = used
            used = offset &+ count
            live &+= 1
            return offset
        }

        /// Discards `count` messages of the slab (memory block). Returns true if the slab is then empty.
        mutating func discard(_ count: Int = 1) -> Bool {
            precondition(live >= count, "discarded twice")
            live &-= count
            guard live == 0 else { return false }
            used = 0
            return true
        }
    }

    private static var smallestSlab: Int { 128 }
    private static var largestSlab: Int { 16 << 10 }
    /// The maximum number of empty slabs (memory blocks) that are retained for later messages.
    private static var spareLimit: Int { 16 }

    private var slabs: [Slab] = []
    /// The indices of slabs (memory blocks) that contain no message and are not being filled.
    private var spare: [Int] = []
    /// The indices in ``slabs`` of the memory blocks that were freed.
    private var vacant: [Int] = []
    /// The index of the slab (memory block) that is being filled; -1 if there is none. The slab's size is at most
    /// ``largestSlab``.
    private var current = -1
    /// The number of bytes that the stored messages use, with their records.
    package private(set) var byteCount = 0
    /// The number of bytes of all slabs (memory blocks), including discarded messages and unused bytes.
    package private(set) var heldByteCount = 0

    /// Makes an empty memory.
    package init() {}

    deinit { for slab in slabs where slab.capacity > 0 { slab.memory.deallocate() } }

    /// Appends `properties` to `buffer` in the encoding that ``keep(_:topic:encodedProperties:payload:)`` requires.
    ///
    /// - Parameters:
    ///   - properties: The properties. Topic alias and message expiry must be absent, because the engine adds them.
    ///   - hasExpiry: True if the header of the message has an expiry.
    ///   - buffer: Receives the encoded bytes.
    /// - Throws: ``MQTTCodec/EncodeError`` if a property violates the specification. Then the buffer is unchanged.
    package static func encode(
        _ properties: PacketProperties, hasExpiry: Bool, into buffer: inout PacketBuffer
    ) throws(EncodeError) {
        if properties.isEmpty { return }
        let encoder = PacketEncoder(version: .v5, sender: .client)
        try encoder.encodePublishProperties(properties, hasExpiry: hasExpiry, into: &buffer)
    }

    /// Stores a copy of a message with this header, topic, properties and payload, until the message is discarded.
    package mutating func keep(
        _ header: OutgoingHeader, topic: RawSpan, encodedProperties: RawSpan, payload: RawSpan
    ) -> Place {
        let record = MessageRecord(
            header: header, propertiesCount: encodedProperties.byteCount, topicCount: topic.byteCount,
            payloadCount: payload.byteCount)
        let (place, room) = reserve(Self.byteCount(of: record))
        room.storeBytes(of: record, as: MessageRecord.self)
        // The record can store only limited lengths, so cut each part to the largest length.
        let start = MessageView.start
        let (topicStart, payloadStart) = (record.propertiesCount, record.propertiesCount &+ record.topicCount)
        encodedProperties.extracting(first: record.propertiesCount).withUnsafeBytes { Self.copy($0, to: room + start) }
        topic.extracting(first: record.topicCount).withUnsafeBytes { Self.copy($0, to: room + start + topicStart) }
        payload.extracting(first: record.payloadCount).withUnsafeBytes {
            Self.copy($0, to: room + start + payloadStart)
        }
        return place
    }

    /// Returns the number of bytes that a message uses, including its record. The number is rounded up so that the
    /// record of the next message is aligned.
    static func byteCount(of record: MessageRecord) -> Int {
        let alignment = MemoryLayout<MessageRecord>.alignment
        return (MessageView.start + record.byteCount + alignment - 1) & ~(alignment - 1)
    }

    /// Stores a copy of `message`, until the copy is discarded.
    @inline(__always)
    mutating func keep(_ message: MessageView) -> Place {
        let (place, room) = reserve(Self.byteCount(of: message.record))
        Self.copy(message.recordAndBytes, to: room)
        return place
    }

    /// Stores a copy of `message`, until the copy is discarded.
    mutating func keep(_ message: OutgoingMessage) throws(EncodeError) -> Place {
        guard !message.properties.isEmpty else { return keep(message, encodedProperties: RawSpan()) }
        var properties = PacketBuffer()
        try Self.encode(message.properties, hasExpiry: message.expiry != nil, into: &properties)
        return properties.withBytes { keep(message, encodedProperties: $0) }
    }

    @inline(__always)
    private mutating func keep(_ message: OutgoingMessage, encodedProperties: RawSpan) -> Place {
        message.topic.utf8.withBytes { topic in
            message.payload.withBytes { payload in
                keep(message.header, topic: topic, encodedProperties: encodedProperties, payload: payload)
            }
        }
    }

    /// Returns a view of the message at `place`. The view is valid until the message is discarded or moved.
    @inline(__always)
    package func view(_ place: Place) -> MessageView {
        let slab = slabs[place.slab]
        precondition(slab.live > 0 && place.offset &+ place.byteCount <= slab.used, "discarded twice")
        return MessageView(at: slab.memory + place.offset)
    }

    /// Sets ``OutgoingHeader/sentAt`` of the message at `place`.
    ///
    /// Only the event loop may call this function, and only while it holds the lock of the outgoing queue. Other
    /// threads read the header only while they hold this lock. The engine reads the header only on the event loop.
    @inline(__always)
    package func setSentAt(_ place: Place, _ time: MonotonicInstant) { view(place).setSentAt(time) }

    /// The header of the message at `place`.
    @inline(__always)
    func header(of place: Place) -> OutgoingHeader { view(place).header }

    /// Discards the message at `place`. Call this only once for each place.
    package mutating func discard(_ place: Place) {
        let isLast = slabs[place.slab].discard()
        byteCount &-= place.byteCount
        if isLast, place.slab != current { retire(place.slab) }
    }

    /// Discards the messages at these places, and empties the list.
    package mutating func discard(_ spent: inout SpentPlaces) {
        for run in spent.runs {
            let isLast = slabs[run.slab].discard(run.count)
            byteCount &-= run.byteCount
            if isLast, run.slab != current { retire(run.slab) }
        }
        spent.runs.removeAll(keepingCapacity: spent.runs.capacity <= Self.spareLimit)
    }

    /// Moves the message at `place` into the slab (memory block) that is being filled, and returns the new place.
    ///
    /// If an owner moves all its messages and then calls ``trim()``, nearly all memory of discarded messages is freed.
    /// A message that is already in this slab, or has its own slab, is not moved. In this case, the result is `place`.
    package mutating func moved(_ place: Place) -> Place {
        let message = view(place)
        guard place.slab != current, slabs[place.slab].capacity <= Self.largestSlab else { return place }
        let copy = keep(message)
        discard(place)
        return copy
    }

    /// Frees all slabs (memory blocks) that contain no message.
    package mutating func trim() {
        while let index = spare.popLast() { free(index) }
        if current >= 0, slabs[current].live == 0 {
            free(current)
            current = -1
        }
        if vacant.count == slabs.count {
            slabs = []
            vacant = []
            spare = []
        }
    }

    /// Reserves `count` bytes for a message. The caller must write the message into these bytes.
    @inline(__always)
    private mutating func reserve(_ count: Int) -> (Place, UnsafeMutableRawPointer) {
        var index = current
        if index < 0 || slabs[index].room < count { index = anotherSlab(for: count) }
        let memory = slabs[index].memory
        let offset = slabs[index].take(count)
        byteCount &+= count
        return (Place(slab: index, offset: offset, byteCount: count), memory + offset)
    }

    @inline(__always)
    private static func copy(_ bytes: UnsafeRawBufferPointer, to room: UnsafeMutableRawPointer) {
        if let source = bytes.baseAddress { room.copyMemory(from: source, byteCount: bytes.count) }
    }

    /// Returns a slab (memory block) with at least `count` free bytes: the next slab to fill, or a separate slab for a
    /// long message.
    @inline(never)
    private mutating func anotherSlab(for count: Int) -> Int {
        if count > Self.largestSlab { return makeSlab(count) }
        let full = current
        current = -1
        if full >= 0, slabs[full].live == 0 { retire(full) }
        while current < 0, let index = spare.popLast() {
            if slabs[index].capacity >= count { current = index } else { free(index) }
        }
        if current < 0 {
            let wanted = min(Self.largestSlab, max(Self.smallestSlab, byteCount &* 2))
            current = makeSlab(max(count, wanted))
        }
        return current
    }

    private mutating func makeSlab(_ capacity: Int) -> Int {
        let slab = Slab(memory: .allocate(byteCount: capacity, alignment: 16), capacity: capacity)
        heldByteCount &+= capacity
        if let index = vacant.popLast() {
            slabs[index] = slab
            return index
        }
        slabs.append(slab)
        return slabs.count - 1
    }

    private mutating func retire(_ index: Int) {
        if slabs[index].capacity <= Self.largestSlab, spare.count < Self.spareLimit {
            spare.append(index)
        } else {
            free(index)
        }
    }

    private mutating func free(_ index: Int) {
        heldByteCount &-= slabs[index].capacity
        slabs[index].memory.deallocate()
        slabs[index] = Slab(memory: slabs[index].memory, capacity: 0)
        vacant.append(index)
    }
}
