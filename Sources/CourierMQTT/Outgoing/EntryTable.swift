import CourierCore
import MQTTEngine

/// The accepted messages that have not ended, in order, and the memory for their bytes.
///
/// A value without locks, clocks and rules. Entries stand in slots, which are used again. The entries of a lane form a doubly
/// linked list. An entry keeps its position in the list in each state. All entries in front of ``LaneList/next`` are in
/// flight.
///
/// ```
/// lane:   inFlight  inFlight  ready  ready  storing  storing
///                             ▲ next        ▲ the message store has all entries in front of it
/// ```
struct EntryTable: ~Copyable {
    /// Messages that keep their order among each other. Between lanes, order holds as far as no message has to wait.
    enum Lane: UInt8, CaseIterable {
        /// QoS 0: needs no acknowledgement, so it passes messages that wait for one.
        case unacknowledged
        /// QoS 1 and 2 without a message store.
        case memory
        /// QoS 1 and 2 that the message store has, or is to get.
        case stored
    }

    struct LaneList {
        var first = EntryTable.noSlot
        var last = EntryTable.noSlot
        /// The first entry that is not in flight.
        var next = EntryTable.noSlot
        /// The first entry that a limit may drop. In ``Lane/stored``, rows of an earlier process stand in front of it.
        var firstDroppable = EntryTable.noSlot
    }

    typealias Slot = Int32

    static var noSlot: Slot { -1 }

    private var entries = EntrySlots()
    private var firstFree = EntryTable.noSlot
    /// The generation of slots that are made.
    private var firstGeneration: UInt32 = 1
    private var unacknowledged = LaneList()
    private var memoryLane = LaneList()
    private var stored = LaneList()
    /// The positions of messages that this process accepted begin behind those of rows from an earlier process.
    private var lastOrder: UInt64 = 1 << 48
    private var lastEarlierOrder: UInt64 = 0
    /// The number of entries.
    private(set) var count = 0

    private var memory = MessageMemory()
    /// True while the session reads bytes of ``memory`` without the queue's lock.
    private var isLent = false
    /// The bytes of messages that ended while ``isLent`` was true.
    private var spent = MessageMemory.SpentPlaces()

    init() {}

    subscript(slot: Slot) -> OutgoingEntry {
        @inline(__always) _read { yield entries[Int(slot)] }
        @inline(__always) _modify { yield &entries[Int(slot)] }
    }

    subscript(lane: Lane) -> LaneList {
        get {
            switch lane {
            case .unacknowledged: unacknowledged
            case .memory: memoryLane
            case .stored: stored
            }
        }
        set {
            switch lane {
            case .unacknowledged: unacknowledged = newValue
            case .memory: memoryLane = newValue
            case .stored: stored = newValue
            }
        }
    }
}

// MARK: - Tokens

extension EntryTable {
    /// The name of an entry for the session: never 0, and never with the highest bit, which marks other requests.
    func token(of slot: Slot) -> Token {
        Token(rawValue: UInt64(entries[Int(slot)].generation) << 32 | UInt64(UInt32(slot) + 1))
    }

    /// The slot of an entry; `nil` when the entry has ended.
    func slot(of token: Token) -> Slot? {
        let index = Int(UInt32(truncatingIfNeeded: token.rawValue)) - 1
        guard index >= 0, index < entries.count, entries[index].state != .free,
            entries[index].generation == UInt32(truncatingIfNeeded: token.rawValue >> 32)
        else { return nil }
        return Slot(index)
    }
}

// MARK: - Entries

extension EntryTable {
    /// Makes an entry at the end of a lane.
    mutating func append(_ state: OutgoingEntry.State, in lane: Lane) -> Slot {
        lastOrder += 1
        return insert(state, in: lane, order: lastOrder, before: Self.noSlot)
    }

    /// Makes an entry for a row of an earlier process, in front of all messages that this process accepted.
    mutating func insertEarlier(_ state: OutgoingEntry.State, before other: Slot) -> Slot {
        lastEarlierOrder += 1
        return insert(state, in: .stored, order: lastEarlierOrder, before: other)
    }

    private mutating func insert(
        _ state: OutgoingEntry.State, in lane: Lane, order: UInt64, before other: Slot
    ) -> Slot {
        let slot = makeSlot()
        var list = self[lane]
        let previous = other == Self.noSlot ? list.last : entries[Int(other)].previous
        entries[Int(slot)].state = state
        entries[Int(slot)].lane = lane
        entries[Int(slot)].order = order
        entries[Int(slot)].previous = previous
        entries[Int(slot)].next = other
        if previous == Self.noSlot { list.first = slot } else { entries[Int(previous)].next = slot }
        if other == Self.noSlot { list.last = slot } else { entries[Int(other)].previous = slot }
        if state != .inFlight, list.next == other { list.next = slot }
        self[lane] = list
        count += 1
        return slot
    }

    private mutating func makeSlot() -> Slot {
        if firstFree != Self.noSlot {
            let slot = firstFree
            firstFree = entries[Int(slot)].next
            return slot
        }
        var entry = OutgoingEntry()
        entry.generation = firstGeneration
        entries.append(entry)
        return Slot(entries.count - 1)
    }

    /// Removes an entry, and frees its slot and its bytes.
    mutating func remove(_ slot: Slot) {
        let index = Int(slot)
        let (previous, next) = (entries[index].previous, entries[index].next)
        var list = self[entries[index].lane]
        if previous == Self.noSlot { list.first = next } else { entries[Int(previous)].next = next }
        if next == Self.noSlot { list.last = previous } else { entries[Int(next)].previous = previous }
        if list.next == slot { list.next = next }
        if list.firstDroppable == slot { list.firstDroppable = next }
        self[entries[index].lane] = list
        entries[index].state = .free
        entries[index].flags = []
        entries[index].end = nil
        entries[index].recipient = .nobody
        entries[index].row = nil
        entries[index].generation = entries[index].generation == 0x7FFF_FFFF ? 1 : entries[index].generation + 1
        if let place = entries[index].place {
            entries[index].place = nil
            if isLent { spent.add(place) } else { memory.discard(place) }
        }
        entries[index].next = firstFree
        firstFree = slot
        count -= 1
    }

    /// Gives memory back that no entry needs. Tokens of ended entries stay unknown, because generations go on.
    mutating func trim() {
        if isLent { return }
        memory.trim()
        guard count == 0, entries.capacity > 0 else { return }
        for index in 0..<entries.count { firstGeneration = max(firstGeneration, entries[index].generation) }
        entries.removeAll()
        firstFree = Self.noSlot
    }

    /// The session takes an entry, the first that waits in its lane.
    mutating func markInFlight(_ slot: Slot) {
        let lane = entries[Int(slot)].lane
        var list = self[lane]
        list.next = entries[Int(slot)].next
        if list.firstDroppable == slot { list.firstDroppable = list.next }
        self[lane] = list
        entries[Int(slot)].state = .inFlight
        entries[Int(slot)].flags.subtract([.isDroppable, .isCounted])
    }

    /// The session returns an entry, which waits again in its old place.
    mutating func markReturned(_ slot: Slot) {
        let lane = entries[Int(slot)].lane
        var list = self[lane]
        entries[Int(slot)].state = .ready
        if list.next == Self.noSlot || entries[Int(slot)].order < entries[Int(list.next)].order { list.next = slot }
        self[lane] = list
    }
}

// MARK: - Bytes

extension EntryTable {
    /// Copies a message's bytes into the table's memory.
    mutating func keepBytes(
        of slot: Slot, _ header: OutgoingHeader, topic: RawSpan, encodedProperties: RawSpan, payload: RawSpan
    ) {
        entries[Int(slot)].place = memory.keep(
            header, topic: topic, encodedProperties: encodedProperties, payload: payload)
    }

    /// The bytes of an entry. They stay where they are until the entry ends.
    func view(_ slot: Slot) -> MessageView? { entries[Int(slot)].place.map { memory.view($0) } }

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
        for index in 0..<entries.count {
            guard let place = entries[index].place else { continue }
            entries[index].place = memory.moved(place)
        }
        memory.trim()
    }
}
