/// A growing run of bytes that packets are encoded into and that a transport writes from.
///
/// One buffer holds many packets, so that a single write carries them all; emptied, it keeps its memory. It belongs to one
/// thread at a time.
///
/// ```swift
/// var buffer = PacketBuffer()
/// try encoder.encode(.pingReq, into: &buffer)
/// let written = buffer.withBytes { transport.write($0) }
/// buffer.removeFirst(written)
/// ```
///
/// Safe because `start <= end <= capacity` always holds, every write goes through `reserve(_:)` first, and the memory
/// is owned by exactly one value: the type cannot be copied. So it is also safe to send.
public struct PacketBuffer: ~Copyable, @unchecked Sendable {
    private var memory: UnsafeMutableRawPointer
    private var capacity: Int
    /// Where the first byte that is not removed yet stands.
    private var start = 0
    /// Where the next byte goes.
    private var end = 0

    /// Makes an empty buffer with room for `capacity` bytes, 0 by default, before it has to grow.
    public init(capacity: Int = 0) {
        self.capacity = max(capacity, 0)
        memory = .allocate(byteCount: self.capacity, alignment: 1)
    }

    deinit { memory.deallocate() }

    /// How many bytes wait to be removed.
    public var count: Int { end &- start }

    /// Whether no byte waits.
    public var isEmpty: Bool { start == end }

    /// Calls `body` with the bytes that wait, oldest first.
    public func withBytes<Failure: Error, Result: ~Copyable>(
        _ body: (RawSpan) throws(Failure) -> Result
    ) throws(Failure) -> Result {
        try body(contents.bytes)
    }

    /// Takes the oldest `count` bytes away, because they have been written; more than there are is a mistake and traps.
    public mutating func removeFirst(_ count: Int) {
        precondition(count >= 0 && count <= self.count, "\(count) of \(self.count) bytes cannot be removed")
        start &+= count
        if start == end { removeAll() }
    }

    /// Takes all bytes away and keeps the memory.
    public mutating func removeAll() {
        start = 0
        end = 0
    }

    /// Gives the memory back if the buffer is empty and has grown to more than `limit` bytes.
    public mutating func trim(above limit: Int) {
        guard isEmpty, capacity > max(limit, 0) else { return }
        self = PacketBuffer()
    }

    /// Adds `bytes` at the end.
    public mutating func append(_ bytes: RawSpan) {
        bytes.withUnsafeBytes { append($0) }
    }

    /// The bytes that wait, valid until the next change.
    private var contents: UnsafeRawBufferPointer { UnsafeRawBufferPointer(start: memory + start, count: count) }
}

extension PacketBuffer {
    /// A place in the buffer that stays right while bytes are appended; removing bytes makes it wrong.
    struct Position: Equatable {
        /// Counted from the first byte that waits.
        fileprivate let offset: Int
    }

    /// The place where the next byte goes.
    @inline(__always) var position: Position { Position(offset: count) }

    /// How many bytes stand behind `position`.
    @inline(__always) func byteCount(since position: Position) -> Int { count &- position.offset }

    /// Takes back everything behind `position`.
    mutating func truncate(to position: Position) {
        precondition(position.offset <= count)
        end = start &+ position.offset
    }

    /// Makes room for `additional` bytes, so that the next appends of as many do not grow the buffer.
    @inline(__always)
    mutating func reserve(_ additional: Int) {
        if capacity &- end < additional { makeRoom(additional) }
    }

    /// Moves the contents to the front when half of the memory is enough for them, and to larger memory otherwise.
    @inline(never)
    private mutating func makeRoom(_ additional: Int) {
        let needed = count + additional
        if needed <= capacity / 2 {
            memory.copyMemory(from: memory + start, byteCount: count)
        } else {
            let larger = max(needed, capacity * 2, 128)
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

    /// Appends `value`, at most 268,435,455, as a variable byte integer in its shortest form.
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

    /// Appends the length in two bytes and the UTF-8 bytes of `text`, at most 65,535.
    @inline(__always)
    mutating func append(lengthAndText text: String, utf8Count: Int) {
        append(UInt16(truncatingIfNeeded: utf8Count))
        // Strings of Swift have these bytes, so the copy is for others.
        if text.utf8.withContiguousStorageIfAvailable({ append(UnsafeRawBufferPointer($0)) }) == nil {
            append(Array(text.utf8))
        }
    }

    /// Puts `value` in front of the bytes behind `position`, as a variable byte integer in its shortest form.
    mutating func insert(variableByteInteger value: Int, at position: Position) {
        let byteCount = byteCount(since: position)
        let size = VariableByteInteger.byteCount(value)
        reserve(4)  // As much as the append below asks for, so that it finds the room and does not grow the buffer.
        let place = memory + start + position.offset
        (place + size).copyMemory(from: place, byteCount: byteCount)
        end = start &+ position.offset
        append(variableByteInteger: value)
        end &+= byteCount
    }

    /// Calls `body` with the last `count` bytes.
    @inline(__always)
    func withLast<Result>(_ count: Int, _ body: (UnsafeRawBufferPointer) -> Result) -> Result {
        precondition(count <= self.count)
        return body(UnsafeRawBufferPointer(start: memory + (end &- count), count: count))
    }
}
