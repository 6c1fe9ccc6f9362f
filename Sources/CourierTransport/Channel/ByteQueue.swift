/// A first-in, first-out queue of bytes in contiguous memory.
///
/// A new queue has no memory. Memory that was allocated is kept until ``trim(above:)``. The unsafe code is correct,
/// because `0 <= start <= end <= capacity` always holds and ``reserve(_:)`` precedes every write. The type cannot be
/// copied, so exactly one value owns the memory. Therefore it is safe to send the queue to another thread.
struct ByteQueue: ~Copyable, @unchecked Sendable {
    /// The maximum size in bytes of the memory that an empty queue keeps.
    static let keptCapacity = 16 << 10

    private var memory: UnsafeMutableRawPointer?
    private(set) var capacity = 0
    private var start = 0
    private var end = 0

    init() {}

    deinit { memory?.deallocate() }

    /// The number of bytes in the queue.
    var count: Int { end &- start }

    var isEmpty: Bool { start == end }

    /// The bytes in the queue. The pointer is valid until the next change.
    var contents: UnsafeRawBufferPointer { UnsafeRawBufferPointer(start: memory.map { $0 + start }, count: count) }

    /// Adds `bytes` at the end.
    mutating func append(_ bytes: UnsafeRawBufferPointer) {
        guard let source = bytes.baseAddress, bytes.count > 0 else { return }
        reserve(bytes.count).copyMemory(from: source, byteCount: bytes.count)
        end &+= bytes.count
    }

    /// Returns at least `count` bytes of free space after the last byte. Fill it, then call ``didAppend(_:)``.
    mutating func room(_ count: Int) -> UnsafeMutableRawBufferPointer {
        let place = reserve(count)
        return UnsafeMutableRawBufferPointer(start: place, count: capacity &- end)
    }

    /// Adds to the queue the `count` bytes that the caller has written into the space from ``room(_:)``.
    mutating func didAppend(_ count: Int) {
        precondition(count >= 0 && count <= capacity &- end, "more bytes than the buffer has room for")
        end &+= count
    }

    /// Removes the oldest `count` bytes. Traps if the queue has fewer bytes.
    mutating func removeFirst(_ count: Int) {
        precondition(count >= 0 && count <= self.count, "\(count) of \(self.count) bytes cannot be removed")
        start &+= count
        if start == end { removeAll() }
    }

    /// Removes all bytes and keeps the memory.
    mutating func removeAll() {
        start = 0
        end = 0
    }

    /// Frees the memory of an empty queue if the memory is larger than `limit` bytes.
    mutating func trim(above limit: Int) {
        guard isEmpty, capacity > limit else { return }
        memory?.deallocate()
        memory = nil
        capacity = 0
    }

    private mutating func reserve(_ additional: Int) -> UnsafeMutableRawPointer {
        if let memory, capacity &- end >= additional { return memory + end }
        let kept = count
        if let memory, start >= kept, capacity &- kept >= additional {
            // The removed bytes left enough space before the waiting bytes, so the waiting bytes move to the front. At
            // most one byte is copied for each removed byte, so this costs less than a larger allocation.
            memory.copyMemory(from: memory + start, byteCount: kept)
            start = 0
            end = kept
            return memory + end
        }
        let grown = max(512, capacity * 2, (kept + additional).roundedUp(toMultipleOf: 512))
        let larger = UnsafeMutableRawPointer.allocate(byteCount: grown, alignment: 16)
        if let memory {
            larger.copyMemory(from: memory + start, byteCount: kept)
            memory.deallocate()
        }
        memory = larger
        capacity = grown
        start = 0
        end = kept
        return larger + kept
    }
}

extension Int {
    fileprivate func roundedUp(toMultipleOf unit: Int) -> Int { (self + unit - 1) / unit * unit }
}
