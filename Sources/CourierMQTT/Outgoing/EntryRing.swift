import CourierCore
import MQTTEngine

/// The entries of messages in the order of their acceptance: a ring that grows.
///
/// A value without locks, clocks and rules. A new entry goes to the end, and its number is the position that it got there. An
/// entry that ends leaves a hole. When the ring is full, entries move toward the end and fill the holes, so that the ring
/// has no more than four times as many places as there ever were entries at a time. Numbers never change.
///
/// ```
///        start                 end
///  free  │ a · b c · · d e f g │ free         · hole
/// ```
///
/// Neighboring entries are neighbors in memory, and each has its own cache line. Callers write entries on one core, and the event
/// loop reads them on another, so that each core can prefetch the next entries.
struct EntryRing: ~Copyable {
    typealias Position = Int

    /// The start of a search for the next entry of a kind. No entry in front of it is of that kind.
    enum Cursor: Int {
        /// Waiting entries of a lane.
        case unacknowledged, memory, stored
        /// Entries that a limit may drop.
        case droppable
        /// Entries that no commit of the message store has taken.
        case uncommitted

        init(waitingIn lane: OutgoingEntry.Lane) {
            switch lane {
            case .unacknowledged: self = .unacknowledged
            case .memory: self = .memory
            case .stored: self = .stored
            }
        }
    }

    private var memory: UnsafeMutablePointer<OutgoingEntry>?
    /// A power of two, or 0.
    private(set) var capacity = 0
    /// The position of the first entry. Places from `start` to `end` hold entries and holes.
    private(set) var start: Position
    private(set) var end: Position
    /// The number of entries.
    private(set) var count = 0
    private var waitingCounts: InlineArray<3, Int> = [0, 0, 0]
    private var cursors: InlineArray<5, Position>

    /// Makes an empty ring.
    ///
    /// - Parameter firstNumber: The number of the first entry.
    init(firstNumber: Int) {
        (start, end) = (firstNumber, firstNumber)
        cursors = InlineArray(repeating: firstNumber)
    }

    deinit { free() }

    /// The entry at a position from ``start`` to ``end``.
    subscript(position: Position) -> OutgoingEntry {
        @inline(__always) unsafeAddress { UnsafePointer(pointer(to: position)) }
        @inline(__always) unsafeMutableAddress { pointer(to: position) }
    }

    /// The memory of an entry, for accessors. Every place of the ring is initialized. The pointer is valid until the next
    /// change of the ring.
    @inline(__always)
    func pointer(to position: Position) -> UnsafeMutablePointer<OutgoingEntry> {
        precondition(position >= start && position < end, "a position without an entry")
        return memory.unsafelyUnwrapped + (position & (capacity &- 1))
    }

    /// The position of the entry with a number; `nil` when the entry has ended.
    @inline(__always)
    func position(ofNumber number: Int) -> Position? {
        if number >= start, number < end, self[number].number == number {
            return self[number].state == .free ? nil : number
        }
        return count == 0 ? nil : positionOfMoved(number)
    }

    /// Searches behind the position that the entry had first. Also holes have numbers in ascending order.
    @inline(never)
    private func positionOfMoved(_ number: Int) -> Position? {
        var (low, high) = (max(start, number), end)
        while low < high {
            let middle = low + (high - low) / 2
            if self[middle].number < number { low = middle + 1 } else { high = middle }
        }
        guard low < end, self[low].number == number, self[low].state != .free else { return nil }
        return low
    }

    // MARK: Changes

    /// Adds an entry at the end. It gets its number from its position.
    @inline(__always)
    mutating func append(
        _ state: OutgoingEntry.State, in lane: OutgoingEntry.Lane, _ qos: QoS, byteCount: Int,
        _ flags: OutgoingEntry.Flags,
        end entryEnd: MonotonicInstant
    ) -> Position {
        if end &- start == capacity { makeRoom() }
        let position = end
        end &+= 1
        count &+= 1
        if state != .inFlight { waitingCounts[Int(lane.rawValue)] &+= 1 }
        let entry = pointer(to: position)
        entry.pointee.number = position
        entry.pointee.end = entryEnd
        entry.pointee.state = state
        entry.pointee.flags = flags
        entry.pointee.lane = lane
        entry.pointee.qos = qos
        entry.pointee.size = UInt32(byteCount)
        return position
    }

    /// Makes a hole of an entry.
    @inline(__always)
    mutating func remove(_ position: Position) {
        if self[position].state != .inFlight { waitingCounts[Int(self[position].lane.rawValue)] &-= 1 }
        self[position].clear()
        count &-= 1
        guard position == start else { return }
        start &+= 1
        while start < end, self[start].state == .free { start &+= 1 }
    }

    /// The session takes a waiting entry.
    mutating func markInFlight(_ position: Position) {
        waitingCounts[Int(self[position].lane.rawValue)] &-= 1
        self[position].state = .inFlight
    }

    /// An entry that the session had waits again.
    mutating func markReturned(_ position: Position) {
        let lane = self[position].lane
        waitingCounts[Int(lane.rawValue)] &+= 1
        self[position].state = .ready
        let cursor = Cursor(waitingIn: lane)
        if cursors[cursor.rawValue] > position { cursors[cursor.rawValue] = position }
    }

    // MARK: Searches

    /// How many entries of a lane wait.
    func waitingCount(in lane: OutgoingEntry.Lane) -> Int { waitingCounts[Int(lane.rawValue)] }

    /// The first entry of a lane that waits.
    @inline(__always)
    mutating func firstWaiting(in lane: OutgoingEntry.Lane) -> Position? {
        if waitingCounts[Int(lane.rawValue)] == 0 { return nil }
        return first(Cursor(waitingIn: lane)) { $0.pointee.lane == lane && $0.pointee.isWaiting }
    }

    /// The first entry that a limit may drop.
    mutating func firstDroppable() -> Position? { first(.droppable) { $0.pointee.flags.contains(.isDroppable) } }

    /// The first entry that the message store has yet to commit.
    mutating func firstUncommitted() -> Position? {
        first(.uncommitted) { $0.pointee.state == .storing && !$0.pointee.flags.contains(.isCommitting) }
    }

    /// The first entry behind a position, which may be any.
    func next(after position: Position) -> Position? {
        var next = max(position + 1, start)
        while next < end, self[next].state == .free { next += 1 }
        return next < end ? next : nil
    }

    /// Moves a cursor to the next entry of its kind.
    @inline(__always)
    private mutating func first(
        _ cursor: Cursor, _ isOfKind: (UnsafeMutablePointer<OutgoingEntry>) -> Bool
    ) -> Position? {
        var position = max(cursors[cursor.rawValue], start)
        while position < end, !isOfKind(pointer(to: position)) { position &+= 1 }
        cursors[cursor.rawValue] = position
        return position < end ? position : nil
    }

    // MARK: Memory

    /// Frees the memory of a ring without entries.
    mutating func trim() {
        guard count == 0 else { return }
        free()
        (memory, capacity) = (nil, 0)
    }

    private func free() {
        memory?.deinitialize(count: capacity)
        memory?.deallocate()
    }

    private static var smallestCapacity: Int { 16 }

    @inline(never)
    private mutating func makeRoom() {
        if count <= capacity / 2, capacity > 0 { fillHoles() } else { grow() }
    }

    private mutating func grow() {
        let larger = max(Self.smallestCapacity, 2 * capacity)
        // The alignment of a cache line, which is an entry's size.
        let room = UnsafeMutableRawPointer.allocate(
            byteCount: larger * MemoryLayout<OutgoingEntry>.stride, alignment: 64
        ).bindMemory(to: OutgoingEntry.self, capacity: larger)
        for index in 0..<larger { (room + index).initialize(to: OutgoingEntry()) }
        for position in start..<end { swap(&room[position & (larger - 1)], &pointer(to: position).pointee) }
        free()
        (memory, capacity) = (room, larger)
    }

    /// Moves entries toward the end, so that holes are in front of them only.
    private mutating func fillHoles() {
        var target = end
        for position in stride(from: end - 1, through: start, by: -1) {
            if self[position].state != .free {
                target -= 1
                if target != position { swap(&pointer(to: target).pointee, &pointer(to: position).pointee) }
            }
            for cursor in cursors.indices where cursors[cursor] == position { cursors[cursor] = target }
        }
        start = target
    }
}
