/// The slots of an ``EntryTable``: an array that only grows, in memory of its own.
///
/// An `Array` checks on each write whether it shares its elements. Publishing writes an entry about thirty times, so that
/// these checks would cost more than the writes.
struct EntrySlots: ~Copyable {
    private var memory: UnsafeMutablePointer<OutgoingEntry>?
    private(set) var count = 0
    private(set) var capacity = 0

    init() {}

    deinit { free() }

    subscript(index: Int) -> OutgoingEntry {
        @inline(__always) unsafeAddress {
            precondition(index >= 0 && index < count, "a slot that does not exist")
            return UnsafePointer(memory.unsafelyUnwrapped + index)
        }
        @inline(__always) unsafeMutableAddress {
            precondition(index >= 0 && index < count, "a slot that does not exist")
            return memory.unsafelyUnwrapped + index
        }
    }

    /// Adds a slot at the end.
    mutating func append(_ entry: OutgoingEntry) {
        if count == capacity { grow() }
        memory.unsafelyUnwrapped.advanced(by: count).initialize(to: entry)
        count += 1
    }

    private mutating func grow() {
        let capacity = max(16, 2 * capacity)
        let larger = UnsafeMutablePointer<OutgoingEntry>.allocate(capacity: capacity)
        if let memory {
            larger.moveInitialize(from: memory, count: count)
            memory.deallocate()
        }
        memory = larger
        self.capacity = capacity
    }

    /// Removes all slots, and frees their memory.
    mutating func removeAll() {
        free()
        (memory, count, capacity) = (nil, 0, 0)
    }

    private func free() {
        memory?.deinitialize(count: count)
        memory?.deallocate()
    }
}
