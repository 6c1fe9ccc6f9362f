/// A growing byte buffer: an encoder appends packets, and a transport writes its bytes to the network.
///
/// One buffer can contain many packets, so that a single write sends all of them. An empty buffer keeps its memory.
/// Only one thread may use the buffer at a time.
///
/// ```swift
/// var buffer = PacketBuffer()
/// try encoder.encode(.pingReq, into: &buffer)
/// let written = buffer.withBytes { transport.write($0) }
/// buffer.removeFirst(written)
/// ```
///
/// The buffer is memory-safe: `start <= end <= capacity` always holds, and every write calls `reserve(_:)` first. The
/// type cannot be copied, so only one value owns the memory. For this reason, it is safe to send the buffer to another
/// thread.
public struct PacketBuffer: ~Copyable, @unchecked Sendable {
    private var memory: UnsafeMutableRawPointer
    private var capacity: Int
    /// The offset of the first byte that is not removed yet.
    private var start = 0
    /// The offset at which the next byte is appended.
    private var end = 0

    /// Creates an empty buffer that can hold `capacity` bytes before it grows.
    public init(capacity: Int = 0) {
        self.capacity = max(capacity, 0)
        memory = .allocate(byteCount: self.capacity, alignment: 1)
    }

    deinit { memory.deallocate() }

    /// The number of bytes in the buffer.
    public var count: Int { end &- start }

    /// True if the buffer contains no bytes.
    public var isEmpty: Bool { start == end }

    /// Calls `body` with the bytes in the buffer, oldest first.
    public func withBytes<Failure: Error, Result: ~Copyable>(
        _ body: (RawSpan) throws(Failure) -> Result
    ) throws(Failure) -> Result {
        try body(contents.bytes)
    }

    /// Removes the oldest `count` bytes, after they were written. Traps if the buffer contains fewer bytes.
    public mutating func removeFirst(_ count: Int) {
        precondition(count >= 0 && count <= self.count, "\(count) of \(self.count) bytes cannot be removed")
        start &+= count
        if start == end { removeAll() }
    }

    /// Removes all bytes and keeps the memory.
    public mutating func removeAll() {
        start = 0
        end = 0
    }

    /// Frees the memory if the buffer is empty and its capacity is larger than `limit` bytes.
    public mutating func trim(above limit: Int) {
        guard isEmpty, capacity > max(limit, 0) else { return }
        self = PacketBuffer()
    }

    /// Adds `bytes` at the end.
    public mutating func append(_ bytes: RawSpan) {
        bytes.withUnsafeBytes { append($0) }
    }

    /// The bytes in the buffer. The pointer is valid until the buffer changes.
    private var contents: UnsafeRawBufferPointer { UnsafeRawBufferPointer(start: memory + start, count: count) }
}

extension PacketBuffer {
    /// A position in the buffer. It stays valid while bytes are appended, and becomes invalid when bytes are removed.
    struct Position: Equatable {
        /// The distance in bytes from the first byte in the buffer.
        fileprivate let offset: Int
    }

    /// The position at which the next byte is appended.
    @inline(__always) var position: Position { Position(offset: count) }

    /// Returns the number of bytes from `position` to the end.
    @inline(__always) func byteCount(since position: Position) -> Int { count &- position.offset }

    /// Removes the bytes from `position` to the end.
    mutating func truncate(to position: Position) {
        precondition(position.offset <= count)
        end = start &+ position.offset
    }

    /// Ensures that `additional` bytes can be appended without growing the buffer again.
    @inline(__always)
    mutating func reserve(_ additional: Int) {
        if capacity &- end < additional { makeRoom(additional) }
    }

    /// Moves the bytes in the buffer to the start of the memory. If these bytes and `additional` bytes would fill more
    /// than half of the memory, moves the bytes to larger memory.
    @inline(never)
    private mutating func makeRoom(_ additional: Int) {
        let needed = count + additional
        if needed <= capacity / 2 {
            memory.copyMemory(from: memory + start, byteCount: count)
        } else {
            // If `Int` has 32 bits, twice a large capacity may not fit into an `Int`.
            let larger = max(needed, capacity <= Int.max / 2 ? capacity * 2 : needed, 128)
            let grown = UnsafeMutableRawPointer.allocate(byteCount: larger, alignment: 1)
            grown.copyMemory(from: memory + start, byteCount: count)
            memory.deallocate()
            memory = grown
            capacity = larger
        }
        end = count
        start = 0
    }

    @inline(__always)
    mutating func append(_ byte: UInt8) {
        reserve(1)
        memory.storeBytes(of: byte, toByteOffset: end, as: UInt8.self)
        end &+= 1
    }

    @inline(__always)
    mutating func append(_ number: UInt16) {
        reserve(2)
        memory.storeBytes(of: number.bigEndian, toByteOffset: end, as: UInt16.self)
        end &+= 2
    }

    @inline(__always)
    mutating func append(_ number: UInt32) {
        reserve(4)
        memory.storeBytes(of: number.bigEndian, toByteOffset: end, as: UInt32.self)
        end &+= 4
    }

    @inline(__always)
    mutating func append(_ bytes: UnsafeRawBufferPointer) {
        guard let source = bytes.baseAddress else { return }
        reserve(bytes.count)
        (memory + end).copyMemory(from: source, byteCount: bytes.count)
        end &+= bytes.count
    }

    @inline(__always)
    mutating func append(_ bytes: [UInt8]) {
        bytes.withUnsafeBytes { append($0) }
    }

    /// Appends `value` as a variable byte integer in its shortest form. The largest value is 268,435,455.
    @inline(__always)
    mutating func append(variableByteInteger value: Int) {
        reserve(4)
        var rest = value
        while rest >= 0x80 {
            append(UInt8(truncatingIfNeeded: rest) | 0x80)
            rest &>>= 7
        }
        append(UInt8(truncatingIfNeeded: rest))
    }

    /// Appends a two-byte length and the UTF-8 bytes of `text`. The largest length is 65,535.
    @inline(__always)
    mutating func append(lengthAndText text: String, utf8Count: Int) {
        append(UInt16(truncatingIfNeeded: utf8Count))
        // Native Swift strings store UTF-8 in one block. Other strings, such as strings from Objective-C, are copied
        // first.
        if text.utf8.withContiguousStorageIfAvailable({ append(UnsafeRawBufferPointer($0)) }) == nil {
            append(Array(text.utf8))
        }
    }

    /// Inserts `value` at `position` as a variable byte integer in its shortest form, and moves the later bytes back.
    mutating func insert(variableByteInteger value: Int, at position: Position) {
        let byteCount = byteCount(since: position)
        let size = VariableByteInteger.byteCount(value)
        // Reserve the space for the `append` below. If `append` moved the buffer, it would copy only the bytes before
        // `end`, and the later bytes would be lost.
        reserve(4)
        let place = memory + start + position.offset
        (place + size).copyMemory(from: place, byteCount: byteCount)
        end = start &+ position.offset
        append(variableByteInteger: value)
        end &+= byteCount
    }

    /// Calls `body` with the last `count` bytes in the buffer.
    @inline(__always)
    func withLast<Result>(_ count: Int, _ body: (UnsafeRawBufferPointer) -> Result) -> Result {
        precondition(count <= self.count)
        return body(UnsafeRawBufferPointer(start: memory + (end &- count), count: count))
    }
}
