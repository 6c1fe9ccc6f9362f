import CourierCore
import MQTTEngine

/// The accepted messages that have not ended, in order, and the memory for their bytes.
///
/// A value without locks, clocks and rules. An entry keeps its place in the order in every state. Rows of an earlier process
/// come before all messages of this process, but are read later, so they have a ring of their own.
struct EntryTable: ~Copyable {
    /// Where an entry is, until the next entry is added. Entries with a lower slot come first.
    typealias Slot = EntryRing.Position
    typealias Lane = OutgoingEntry.Lane

    private var earlier = EntryRing(firstNumber: 1)
    private var current = EntryRing(firstNumber: EntryTable.firstNumber)
    /// The number of the first message that this process accepts.
    @inline(__always) private static var firstNumber: Int { 1 << 48 }

    private var memory = MessageMemory()
    /// True while the session reads bytes of ``memory`` without the queue's lock.
    private var isLent = false
    /// The bytes of messages that ended while ``isLent`` was true.
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

    // MARK: Tokens

    /// The token of all QoS 0 messages. They leave the queue when they are written, so the session's answer has no entry.
    static var unacknowledged: Token { 0 }

    /// The name of an entry for the session: never ``unacknowledged``, and never with the highest bit, which marks other requests.
    @inline(__always)
    func token(of slot: Slot) -> Token { Token(rawValue: UInt64(self[slot].number)) }

    /// The slot of an entry; `nil` when the entry has ended.
    @inline(__always)
    func slot(of token: Token) -> Slot? {
        guard let number = Int(exactly: token.rawValue) else { return nil }
        return number >= Self.firstNumber ? current.position(ofNumber: number) : earlier.position(ofNumber: number)
    }

    // MARK: Entries

    /// Adds an entry behind all others.
    @inline(__always)
    mutating func append(
        _ state: OutgoingEntry.State, in lane: Lane, _ qos: QoS, byteCount: Int, _ flags: OutgoingEntry.Flags,
        end: MonotonicInstant
    ) -> Slot {
        current.append(state, in: lane, qos, byteCount: byteCount, flags, end: end)
    }

    /// Adds the entry of a row of an earlier process, before all messages that this process accepted.
    mutating func appendEarlier(
        _ state: OutgoingEntry.State, _ qos: QoS, byteCount: Int, _ flags: OutgoingEntry.Flags, end: MonotonicInstant
    ) -> Slot {
        earlier.append(state, in: .stored, qos, byteCount: byteCount, flags, end: end)
    }

    /// Removes an entry, and frees its bytes.
    @inline(__always)
    mutating func remove(_ slot: Slot) {
        if let place = self[slot].place { if isLent { spent.add(place) } else { memory.discard(place) } }
        if slot >= Self.firstNumber { current.remove(slot) } else { earlier.remove(slot) }
    }

    /// The session takes a waiting entry.
    mutating func markInFlight(_ slot: Slot) {
        self[slot].flags.subtract([.isDroppable, .isCounted])
        if slot >= Self.firstNumber { current.markInFlight(slot) } else { earlier.markInFlight(slot) }
    }

    /// The session returns an entry, which waits again in its old place.
    mutating func markReturned(_ slot: Slot) {
        if slot >= Self.firstNumber { current.markReturned(slot) } else { earlier.markReturned(slot) }
    }

    // MARK: Searches

    /// How many entries of a lane wait.
    func waitingCount(in lane: Lane) -> Int { earlier.waitingCount(in: lane) + current.waitingCount(in: lane) }

    /// Whether any entry waits.
    var hasWaiting: Bool { Lane.allCases.contains { waitingCount(in: $0) > 0 } }

    /// The first entry of a lane that waits.
    @inline(__always)
    mutating func firstWaiting(in lane: Lane) -> Slot? {
        earlier.firstWaiting(in: lane) ?? current.firstWaiting(in: lane)
    }

    /// The first entry that a limit may drop.
    mutating func firstDroppable() -> Slot? { current.firstDroppable() }

    /// The first entry that the message store has yet to commit.
    mutating func firstUncommitted() -> Slot? { current.firstUncommitted() }

    /// The first entry of all.
    var first: Slot? { next(after: 0) }

    /// The first entry behind a slot.
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

    /// The bytes of an entry. They stay where they are until the entry ends.
    @inline(__always)
    func view(_ slot: Slot) -> MessageView? { self[slot].place.map { memory.view($0) } }

    /// How many bytes the memory has, used or not.
    var heldByteCount: Int { memory.heldByteCount }

    /// The session reads bytes without the lock from now on, until ``endLending()``.
    mutating func beginLending() { isLent = true }

    mutating func endLending() {
        guard isLent else { return }
        isLent = false
        memory.discard(&spent)
        compact()
    }

    /// From how many unused bytes on the memory is compacted, 1 MiB.
    private static var sparseLimit: Int { 1 << 20 }

    /// Moves all messages together if more than half of the memory is unused, because short-lived messages ended between
    /// long-lived ones.
    private mutating func compact() {
        guard memory.heldByteCount > 2 * memory.byteCount + Self.sparseLimit else { return }
        var slot = first
        while let one = slot {
            if let place = self[one].place { self[one].place = memory.moved(place) }
            slot = next(after: one)
        }
        memory.trim()
    }

    /// Gives memory back that no entry needs.
    mutating func trim() {
        if isLent { return }
        memory.trim()
        earlier.trim()
        current.trim()
    }
}
