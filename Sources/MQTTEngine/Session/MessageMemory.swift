package import MQTTCodec

/// The bytes of messages that wait, or that may have to be sent again.
///
/// Each message is its record and its bytes. Messages are written behind each other into slabs of at most ``largestSlab`` bytes. A longer message gets a slab of its
/// own. A slab is used again, or its memory is freed, when the last message in the slab has been discarded. So no message
/// allocates memory once the slabs exist, and a message that stays long retains one slab, not the slabs behind it.
///
/// **A kept message never moves, and nothing overwrites it, until the owner discards it or calls ``moved(_:)``.** The owner
/// may therefore guard this value with a lock and read ``MessageView``s without the lock, while other threads keep, move
/// and discard other messages. The owner must discard a message only after the last use of its views.
///
/// `@unchecked Sendable` is safe because this value alone owns the slabs and cannot be copied. `used <= capacity` holds for
/// each slab. Only this type makes places, each within `used`, and every use of a place checks that.
package struct MessageMemory: ~Copyable, @unchecked Sendable {
    /// Where a message is kept.
    package struct Place: Sendable {
        // Fewer than 2^32 slabs, each of less than 4 GiB.
        private let numbers: (slab: UInt32, offset: UInt32, byteCount: UInt32)

        fileprivate init(slab: Int, offset: Int, byteCount: Int) {
            numbers = (UInt32(slab), UInt32(offset), UInt32(byteCount))
        }

        @inline(__always) fileprivate var slab: Int { Int(numbers.slab) }
        @inline(__always) fileprivate var offset: Int { Int(numbers.offset) }
        /// How many bytes the message takes.
        @inline(__always) fileprivate var byteCount: Int { Int(numbers.byteCount) }
    }

    /// Places that are discarded together, later.
    package struct SpentPlaces {
        /// Messages that follow each other nearly always have the same slab.
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
        /// 0 once the memory was freed.
        let capacity: Int
        var used = 0
        /// How many messages in the slab have not been discarded.
        var live = 0

        var room: Int { capacity &- used }

        /// Takes the next `count` bytes for a message, and returns their offset.
        mutating func take(_ count: Int) -> Int {
            let offset = used
            used = offset &+ count
            live &+= 1
            return offset
        }

        /// Forgets messages, and returns whether these were the last ones.
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
    /// How many slabs without messages are retained for the next messages.
    private static var spareLimit: Int { 16 }

    private var slabs: [Slab] = []
    /// The slabs that hold no message and are not being filled.
    private var spare: [Int] = []
    /// The indices in ``slabs`` whose memory was freed.
    private var vacant: [Int] = []
    /// The slab that is being filled, or -1. Never longer than ``largestSlab``.
    private var current = -1
    /// How many bytes the kept messages take, with their records.
    package private(set) var byteCount = 0
    /// How many bytes all slabs take, with the bytes of discarded messages and the bytes that are not used yet.
    package private(set) var heldByteCount = 0

    /// Makes an empty memory.
    package init() {}

    deinit { for slab in slabs where slab.capacity > 0 { slab.memory.deallocate() } }

    /// Appends `properties` to `buffer` in the form that ``keep(_:topic:encodedProperties:payload:)`` takes.
    ///
    /// - Parameters:
    ///   - properties: The properties, without topic alias and message expiry, which belong to the engine.
    ///   - hasExpiry: Whether the header of the message has an expiry.
    ///   - buffer: Gets the bytes.
    /// - Throws: ``MQTTCodec/EncodeError`` when a property breaks the specification; the buffer is then unchanged.
    package static func encode(
        _ properties: PacketProperties, hasExpiry: Bool, into buffer: inout PacketBuffer
    ) throws(EncodeError) {
        if properties.isEmpty { return }
        let encoder = PacketEncoder(version: .v5, sender: .client)
        try encoder.encodePublishProperties(properties, hasExpiry: hasExpiry, into: &buffer)
    }

    /// Copies a message of these parts, until the message is discarded.
    package mutating func keep(
        _ header: OutgoingHeader, topic: RawSpan, encodedProperties: RawSpan, payload: RawSpan
    ) -> Place {
        let record = MessageRecord(
            header: header, propertiesCount: encodedProperties.byteCount, topicCount: topic.byteCount,
            payloadCount: payload.byteCount)
        let (place, room) = reserve(Self.byteCount(of: record))
        room.storeBytes(of: record, as: MessageRecord.self)
        // The record cuts a part that is too long.
        let start = MessageView.start
        let (topicStart, payloadStart) = (record.propertiesCount, record.propertiesCount &+ record.topicCount)
        encodedProperties.extracting(first: record.propertiesCount).withUnsafeBytes { Self.copy($0, to: room + start) }
        topic.extracting(first: record.topicCount).withUnsafeBytes { Self.copy($0, to: room + start + topicStart) }
        payload.extracting(first: record.payloadCount).withUnsafeBytes {
            Self.copy($0, to: room + start + payloadStart)
        }
        return place
    }

    /// How many bytes a message takes. The next message begins at an address that its record may have.
    static func byteCount(of record: MessageRecord) -> Int {
        let alignment = MemoryLayout<MessageRecord>.alignment
        return (MessageView.start + record.byteCount + alignment - 1) & ~(alignment - 1)
    }

    /// Copies `message`, until the copy is discarded.
    @inline(__always)
    mutating func keep(_ message: MessageView) -> Place {
        let (place, room) = reserve(Self.byteCount(of: message.record))
        Self.copy(message.recordAndBytes, to: room)
        return place
    }

    /// Copies `message`, until the copy is discarded.
    mutating func keep(_ message: OutgoingMessage) throws(EncodeError) -> Place {
        let topic = message.topic.utf8Span.span.bytes
        let payload = message.payload.span.bytes
        if message.properties.isEmpty {
            return keep(message.header, topic: topic, encodedProperties: RawSpan(), payload: payload)
        }
        var properties = PacketBuffer()
        try Self.encode(message.properties, hasExpiry: message.expiry != nil, into: &properties)
        return properties.withBytes { keep(message.header, topic: topic, encodedProperties: $0, payload: payload) }
    }

    /// The message at `place`, valid until the message is discarded or moved.
    @inline(__always)
    package func view(_ place: Place) -> MessageView {
        let slab = slabs[place.slab]
        precondition(slab.live > 0 && place.offset &+ place.byteCount <= slab.used, "discarded twice")
        return MessageView(at: slab.memory + place.offset)
    }

    /// The header of the message at `place`.
    @inline(__always)
    func header(of place: Place) -> OutgoingHeader { view(place).header }

    /// Forgets the message at `place`; once for each place.
    package mutating func discard(_ place: Place) {
        let isLast = slabs[place.slab].discard()
        byteCount &-= place.byteCount
        if isLast, place.slab != current { retire(place.slab) }
    }

    /// Forgets the messages at these places, and removes the places from the list.
    package mutating func discard(_ spent: inout SpentPlaces) {
        for run in spent.runs {
            let isLast = slabs[run.slab].discard(run.count)
            byteCount &-= run.byteCount
            if isLast, run.slab != current { retire(run.slab) }
        }
        spent.runs.removeAll(keepingCapacity: spent.runs.capacity <= Self.spareLimit)
    }

    /// Copies the message at `place` into the slab that is being filled, discards `place` and returns the new place.
    ///
    /// An owner that moves all its messages and then calls ``trim()`` gets back nearly all memory of discarded messages. A
    /// message that is in that slab already, or has a slab of its own, stays, and `place` is returned.
    package mutating func moved(_ place: Place) -> Place {
        let message = view(place)
        guard place.slab != current, slabs[place.slab].capacity <= Self.largestSlab else { return place }
        let copy = keep(message)
        discard(place)
        return copy
    }

    /// Frees all memory that holds no message.
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

    /// Takes room for a message of so many bytes, which the caller writes there.
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

    /// Returns a slab with room for at least `count` bytes: the next one to fill, or one for a long message alone.
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
