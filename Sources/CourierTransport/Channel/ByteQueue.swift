/// Bytes that wait, first in, first out, in one run of memory.
///
/// Without bytes it needs no memory; it keeps what it had grown to until ``trim(above:)``. Safe because
/// `0 <= start <= end <= capacity` always holds, every write goes behind ``reserve(_:)``, and the memory is owned by
/// exactly one value: the type cannot be copied. So it is also safe to send.
struct ByteQueue: ~Copyable, @unchecked Sendable {
    /// How much memory an empty buffer keeps.
    static let keptCapacity = 16 << 10

    private var memory: UnsafeMutableRawPointer?
    private(set) var capacity = 0
    private var start = 0
    private var end = 0

    init() {}

    deinit { memory?.deallocate() }

    /// How many bytes wait.
    var count: Int { end &- start }

    var isEmpty: Bool { start == end }

    /// The bytes that wait, valid until the next change.
    var contents: UnsafeRawBufferPointer { UnsafeRawBufferPointer(start: memory.map { $0 + start }, count: count) }

    /// Adds `bytes` at the end.
    mutating func append(_ bytes: UnsafeRawBufferPointer) {
        guard let source = bytes.baseAddress, bytes.count > 0 else { return }
        reserve(bytes.count).copyMemory(from: source, byteCount: bytes.count)
        end &+= bytes.count
    }

    /// At least `count` bytes of room behind the end, to fill and then to announce by ``didAppend(_:)``.
    mutating func room(_ count: Int) -> UnsafeMutableRawBufferPointer {
        let place = reserve(count)
        return UnsafeMutableRawBufferPointer(start: place, count: capacity &- end)
    }

    /// Counts `count` bytes that were written into ``room(_:)``.
    mutating func didAppend(_ count: Int) {
        precondition(count >= 0 && count <= capacity &- end, "more bytes than there was room for")
        end &+= count
    }

    /// Takes the oldest `count` bytes away; more than there are is a mistake and traps.
    mutating func removeFirst(_ count: Int) {
        precondition(count >= 0 && count <= self.count, "\(count) of \(self.count) bytes cannot be removed")
        start &+= count
        if start == end { removeAll() }
    }

    /// Takes all bytes away and keeps the memory.
    mutating func removeAll() {
        start = 0
        end = 0
    }

    /// Gives the memory of an empty queue back if it is more than `limit` bytes.
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
            // At least half is free in front: moving is cheaper than growing and happens once per as many bytes removed.
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
