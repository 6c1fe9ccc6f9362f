import CourierCore
import MQTTEngine

/// Holds the entries of accepted messages that have not ended, in the order of acceptance, and the messages' bytes.
///
/// The table uses no lock and no clock, and knows no rules about messages. An entry keeps its place in the order when
/// its state changes. Messages that an earlier process stored precede all messages of this process, although they may
/// be read later. Therefore, they have their own ring buffer, an ``EntryRing``.
struct EntryTable: ~Copyable {
    /// The position of an entry. A slot is valid until the next entry is added. An entry precedes all entries with a
    /// higher slot.
    typealias Slot = EntryRing.Position
    typealias Lane = OutgoingEntry.Lane

    private var earlier = EntryRing(firstNumber: 1)
    private var current = EntryRing(firstNumber: EntryTable.firstNumber)
    /// The number of the first message that this process accepts. Messages of an earlier process have lower numbers.
    @inline(__always) private static var firstNumber: Int { 1 << 48 }

    private var memory = MessageMemory()
    /// True while the session driver reads bytes of ``memory`` without the queue's lock.
    private var isLent = false
    /// The memory of messages that ended while the session driver was reading bytes without the lock (``isLent``). This
    /// memory is freed when the session driver has finished reading.
    private var spent = MessageMemory.SpentPlaces()

    init() {}

    subscript(slot: Slot) -> OutgoingEntry {
        @inline(__always) unsafeAddress { UnsafePointer(pointer(to: slot)) }
        @inline(__always) unsafeMutableAddress { pointer(to: slot) }
    }

    @inline(__always)
    private func pointer(to slot: Slot) -> UnsafeMutablePointer<OutgoingEntry> {
        slot >= Self.firstNumber ? current.pointer(to: slot) : earlier.pointer(to: slot)
    }

    /// The number of entries.
    var count: Int { earlier.count + current.count }

    /// The number of the last message that this process accepted.
    var lastNumber: Int { current.end - 1 }

    /// The number of messages that this process accepted.
    var acceptedCount: Int { current.end - Self.firstNumber }

    /// Returns true if an earlier process stored the entry's message.
    @inline(__always)
    func isEarlier(_ slot: Slot) -> Bool { slot < Self.firstNumber }

    /// Returns the time when the session driver last took the entry's message; `never` if this process has not sent it.
    @inline(__always)
    func sentAt(_ slot: Slot) -> MonotonicInstant { view(slot)?.header.sentAt ?? .never }

    /// Returns the time when the client accepted the entry's message.
    @inline(__always)
    func acceptedAt(_ slot: Slot) -> MonotonicInstant {
        view(slot)?.header.acceptedAt ?? self[slot].row?.acceptedAt ?? .never
    }

    // MARK: Tokens

    /// The token that all QoS 0 messages share. A QoS 0 message needs no token of its own, because its entry is removed
    /// when the session driver takes the message.
    static var unacknowledged: Token { 0 }

    /// Returns the token that identifies an entry to the session driver. The token is never ``unacknowledged``. Its
    /// highest bit is never set, because that bit marks the tokens of SUBSCRIBE and UNSUBSCRIBE.
    @inline(__always)
    func token(of slot: Slot) -> Token { Token(rawValue: UInt64(self[slot].number)) }

    /// Returns the slot of the entry with this token, or `nil` if the entry has ended.
    @inline(__always)
    func slot(of token: Token) -> Slot? {
        guard let number = Int(exactly: token.rawValue) else { return nil }
        return number >= Self.firstNumber ? current.position(ofNumber: number) : earlier.position(ofNumber: number)
    }

    // MARK: Entries

    /// Adds an entry after all other entries.
    @inline(__always)
    mutating func append(
        _ state: OutgoingEntry.State, in lane: Lane, _ qos: QoS, byteCount: Int, _ flags: OutgoingEntry.Flags,
        end: MonotonicInstant
    ) -> Slot {
        current.append(state, in: lane, qos, byteCount: byteCount, flags, end: end)
    }

    /// Adds an entry for a message that an earlier process stored. The entry precedes all messages of this process.
    mutating func appendEarlier(
        _ state: OutgoingEntry.State, _ qos: QoS, byteCount: Int, _ flags: OutgoingEntry.Flags, end: MonotonicInstant
    ) -> Slot {
        earlier.append(state, in: .stored, qos, byteCount: byteCount, flags, end: end)
    }

    /// Removes an entry, and frees the message's bytes. If the session driver is reading bytes without the lock,
    /// `endLending()` frees the message's bytes later.
    @inline(__always)
    mutating func remove(_ slot: Slot) {
        if let place = self[slot].place { if isLent { spent.add(place) } else { memory.discard(place) } }
        if slot >= Self.firstNumber { current.remove(slot) } else { earlier.remove(slot) }
    }

    /// Marks a waiting entry as in flight. Called when the session driver takes the message at the time `now`. From now
    /// on, the entry does not count toward the limits for waiting messages.
    mutating func markInFlight(_ slot: Slot, now: MonotonicInstant) {
        if let place = self[slot].place { memory.setSentAt(place, now) }
        self[slot].flags.subtract([.isDroppable, .isCounted])
        if slot >= Self.firstNumber { current.markInFlight(slot) } else { earlier.markInFlight(slot) }
    }

    /// Marks an entry as waiting again, in its old place in the order. Called when the session driver returns the
    /// message.
    mutating func markReturned(_ slot: Slot) {
        if slot >= Self.firstNumber { current.markReturned(slot) } else { earlier.markReturned(slot) }
    }

    // MARK: Searches

    /// Returns the number of waiting entries of a lane.
    func waitingCount(in lane: Lane) -> Int { earlier.waitingCount(in: lane) + current.waitingCount(in: lane) }

    /// The number of waiting entries of all lanes.
    var waitingCount: Int { Lane.allCases.reduce(0) { $0 + waitingCount(in: $1) } }

    /// True if any entry waits.
    var hasWaiting: Bool { Lane.allCases.contains { waitingCount(in: $0) > 0 } }

    /// Returns the slot of the first waiting entry of a lane, which is a group of messages that keep their order; `nil`
    /// if there is none.
    @inline(__always)
    mutating func firstWaiting(in lane: Lane) -> Slot? {
        earlier.firstWaiting(in: lane) ?? current.firstWaiting(in: lane)
    }

    /// Returns the slot of the first entry that may be dropped when the queue is full; `nil` if there is none.
    mutating func firstDroppable() -> Slot? { current.firstDroppable() }

    /// Returns the slot of the first entry that must be stored, but is in no commit yet; `nil` if there is none.
    mutating func firstUncommitted() -> Slot? { current.firstUncommitted() }

    /// The slot of the first entry; `nil` if the table is empty.
    var first: Slot? { next(after: 0) }

    /// Returns the slot of the first entry with a number above `number`; `nil` if there is none. Unlike slots, numbers
    /// stay valid when entries are added.
    func next(afterNumber number: Int) -> Slot? {
        // When an entry is added, its slot equals its number. Later, the entry may move to a higher slot, but never to
        // a lower one. Therefore, every entry with a number above `number` has a slot above `number`, and the search
        // starts there. Entries with lower numbers may have moved there, too. The loop skips them.
        var slot = next(after: number)
        while let one = slot, self[one].number <= number { slot = next(after: one) }
        return slot
    }

    /// Returns the slot of the first entry after `slot`; `nil` if there is none.
    func next(after slot: Slot) -> Slot? {
        if slot < Self.firstNumber, let next = earlier.next(after: slot) { return next }
        return current.next(after: slot)
    }
}

// MARK: - Bytes

extension EntryTable {
    /// Copies a message's bytes into the table's memory.
    @inline(__always)
    mutating func keepBytes(
        of slot: Slot, _ header: OutgoingHeader, topic: RawSpan, encodedProperties: RawSpan, payload: RawSpan
    ) {
        self[slot].place = memory.keep(header, topic: topic, encodedProperties: encodedProperties, payload: payload)
    }

    /// Returns a view of an entry's bytes, or `nil` if they are not in memory. The view is valid until the entry ends
    /// or `endLending()` compacts the memory.
    @inline(__always)
    func view(_ slot: Slot) -> MessageView? { self[slot].place.map { memory.view($0) } }

    /// The size of the memory for message bytes, including unused memory.
    var heldByteCount: Int { memory.heldByteCount }

    /// Begins lending: the session driver reads the bytes of messages without the queue's lock until ``endLending()``.
    mutating func beginLending() { isLent = true }

    mutating func endLending() {
        guard isLent else { return }
        isLent = false
        memory.discard(&spent)
        compact()
    }

    /// The unused part of the memory that is always tolerated, 1 MiB. The memory is compacted only if its unused part
    /// is larger than its used part plus this size.
    private static var sparseLimit: Int { 1 << 20 }

    /// Compacts the memory if the unused part is much larger than the used part. This happens if many messages ended
    /// between messages that still wait.
    private mutating func compact() {
        guard memory.heldByteCount > 2 * memory.byteCount + Self.sparseLimit else { return }
        var slot = first
        while let one = slot {
            if let place = self[one].place { self[one].place = memory.moved(place) }
            slot = next(after: one)
        }
        memory.trim()
    }

    /// Frees memory that no entry needs. Does nothing while the session driver reads bytes without the lock.
    mutating func trim() {
        if isLent { return }
        memory.trim()
        earlier.trim()
        current.trim()
    }
}
