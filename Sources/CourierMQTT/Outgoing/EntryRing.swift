import CourierCore
import MQTTEngine

/// A growing ring buffer of message entries, in the order in which the messages were accepted.
///
/// The ring uses no lock and no clock, and knows no rules about messages. A new entry is added at the end. The entry's
/// number is the position at which it was added, and never changes. When an entry ends, its position becomes a hole. If
/// the ring is full, and at least half of its positions are holes, the entries move toward the end and fill the holes.
/// If the ring is full and has fewer holes, the capacity doubles. The smallest capacity is 16. A larger capacity is at
/// most four times the largest number of entries that the ring has had at one time.
///
/// ```
///        start                 end
///  free  │ a · b c · · d e f g │ free         · hole
/// ```
///
/// Consecutive entries are adjacent in memory, and each entry has its own cache line. Callers write entries on one
/// core, and the event loop reads them on another core. With this layout, each core can prefetch the next entries.
struct EntryRing: ~Copyable {
    typealias Position = Int

    /// The kinds of cursors. A cursor is the position where the search for the first entry of one kind starts. No entry
    /// of that kind has a lower position.
    enum Cursor: Int {
        /// Each of these three cursors finds the waiting entries of one lane: QoS 0 messages, messages that are kept
        /// only in memory, or messages for the message store.
        case unacknowledged, memory, stored
        /// This cursor finds the entries that may be dropped to make room when a limit is reached.
        case droppable
        /// This cursor finds the entries of messages that must be stored, but that no commit of the message store
        /// contains yet.
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
    /// The number of entries that fit into the ring's memory: a power of two, or 0.
    private(set) var capacity = 0
    /// The position of the first entry. The positions from `start` up to, but not including, `end` hold entries and
    /// holes.
    private(set) var start: Position
    private(set) var end: Position
    /// The number of entries.
    private(set) var count = 0
    private var waitingCounts = FixedArray<Int, (Int, Int, Int)>(repeating: 0)
    private var cursors: FixedArray<Position, (Position, Position, Position, Position, Position)>

    /// Makes an empty ring.
    ///
    /// - Parameter firstNumber: The number of the first entry.
    init(firstNumber: Int) {
        (start, end) = (firstNumber, firstNumber)
        cursors = FixedArray(repeating: firstNumber)
    }

    deinit { free() }

    /// The entry at a position. The position must be at least ``start`` and less than ``end``.
    subscript(position: Position) -> OutgoingEntry {
        @inline(__always) unsafeAddress { UnsafePointer(pointer(to: position)) }
        @inline(__always) unsafeMutableAddress { pointer(to: position) }
    }

    /// Returns a pointer to the entry at a position. A hole, which is the position of an ended entry, also has
    /// initialized memory. The pointer is valid until the ring changes.
    @inline(__always)
    func pointer(to position: Position) -> UnsafeMutablePointer<OutgoingEntry> {
        precondition(position >= start && position < end, "there is no entry at this position")
        return memory.unsafelyUnwrapped + (position & (capacity &- 1))
    }

    /// Returns the position of the entry with this number, or `nil` if the entry has ended.
    @inline(__always)
    func position(ofNumber number: Int) -> Position? {
        if number >= start, number < end, self[number].number == number {
            return self[number].state == .free ? nil : number
        }
        return count == 0 ? nil : positionOfMoved(number)
    }

    /// Returns the position of an entry that `fillHoles()` moved, or `nil` if the entry has ended. A hole, which is the
    /// position of an ended entry, keeps that entry's number. Therefore, the numbers at all positions are in ascending
    /// order, and a binary search finds a number.
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

    /// Adds an entry at the end, and returns its position. The position is also the entry's number.
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

    /// Removes an entry, and leaves its position unused.
    @inline(__always)
    mutating func remove(_ position: Position) {
        if self[position].state != .inFlight { waitingCounts[Int(self[position].lane.rawValue)] &-= 1 }
        self[position].clear()
        count &-= 1
        guard position == start else { return }
        start &+= 1
        while start < end, self[start].state == .free { start &+= 1 }
    }

    /// Marks a waiting entry as in flight. Called when the session driver takes the message.
    mutating func markInFlight(_ position: Position) {
        waitingCounts[Int(self[position].lane.rawValue)] &-= 1
        self[position].state = .inFlight
    }

    /// Marks an entry as waiting again. Called when the session driver returns the message.
    mutating func markReturned(_ position: Position) {
        let lane = self[position].lane
        waitingCounts[Int(lane.rawValue)] &+= 1
        self[position].state = .ready
        let cursor = Cursor(waitingIn: lane)
        if cursors[cursor.rawValue] > position { cursors[cursor.rawValue] = position }
    }

    // MARK: Searches

    /// Returns the number of waiting entries of a lane.
    func waitingCount(in lane: OutgoingEntry.Lane) -> Int { waitingCounts[Int(lane.rawValue)] }

    /// Returns the position of the first waiting entry of a lane, which is a group of messages that keep their order;
    /// `nil` if there is none.
    @inline(__always)
    mutating func firstWaiting(in lane: OutgoingEntry.Lane) -> Position? {
        if waitingCounts[Int(lane.rawValue)] == 0 { return nil }
        return first(Cursor(waitingIn: lane)) { $0.pointee.lane == lane && $0.pointee.isWaiting }
    }

    /// Returns the position of the first entry that may be dropped when the queue is full; `nil` if there is none.
    mutating func firstDroppable() -> Position? { first(.droppable) { $0.pointee.flags.contains(.isDroppable) } }

    /// Returns the position of the first entry that must be stored, but is in no commit yet; `nil` if there is none.
    mutating func firstUncommitted() -> Position? {
        first(.uncommitted) { $0.pointee.state == .storing && !$0.pointee.flags.contains(.isCommitting) }
    }

    /// Returns the position of the first entry after `position`; `nil` if there is none. `position` may lie outside the
    /// ring.
    func next(after position: Position) -> Position? {
        var next = max(position + 1, start)
        while next < end, self[next].state == .free { next += 1 }
        return next < end ? next : nil
    }

    /// Moves a cursor forward to the first entry of the cursor's kind. Returns the position of this entry, or `nil` if
    /// there is none.
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

    /// Frees the ring's memory if the ring has no entries.
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
        // An entry is as large as a cache line, 64 bytes. With this alignment, each entry has its own cache line.
        let room = UnsafeMutableRawPointer.allocate(
            byteCount: larger * MemoryLayout<OutgoingEntry>.stride, alignment: 64
        ).bindMemory(to: OutgoingEntry.self, capacity: larger)
        for index in 0..<larger { (room + index).initialize(to: OutgoingEntry()) }
        for position in start..<end { swap(&room[position & (larger - 1)], &pointer(to: position).pointee) }
        free()
        (memory, capacity) = (room, larger)
    }

    /// Moves all entries to the end, without holes between them, and advances `start` to the first entry.
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
