/// A block of memory that payloads are copied into one after the other, so that a message costs no allocation of its own.
///
/// Safe to share: the one writer, on the event loop, only ever writes behind what it has handed out; readers see a
/// ``PayloadSlice`` after its bytes were written, through the lock of the queue that brings it to them.
final class Slab: @unchecked Sendable {
    /// The size of a block that is shared by many payloads.
    static let sharedSize = 64 << 10

    fileprivate let memory: UnsafeMutableRawBufferPointer

    init(byteCount: Int) { memory = .allocate(byteCount: byteCount, alignment: 16) }

    deinit { memory.deallocate() }
}

/// A payload in a ``Slab``, which it keeps alive.
struct PayloadSlice: Sendable {
    private let slab: Slab?
    private let start: Int
    let count: Int

    fileprivate init(_ slab: Slab?, start: Int, count: Int) {
        self.slab = slab
        self.start = start
        self.count = count
    }

    /// The same bytes in a block of their own.
    func detached() -> PayloadSlice {
        withBytes { bytes in
            guard bytes.count > 0 else { return PayloadSlice(nil, start: 0, count: 0) }
            let own = Slab(byteCount: bytes.count)
            own.memory.copyMemory(from: bytes)
            return PayloadSlice(own, start: 0, count: bytes.count)
        }
    }

    /// Lends the bytes.
    func withBytes<Result>(_ body: (UnsafeRawBufferPointer) throws -> Result) rethrows -> Result {
        guard let slab else { return try body(UnsafeRawBufferPointer(start: nil, count: 0)) }
        return try body(UnsafeRawBufferPointer(rebasing: slab.memory[start..<start + count]))
    }
}

/// Copies payloads into slabs. On the event loop only.
struct SlabWriter {
    private var slab: Slab?
    private var used = 0

    init() {}

    /// Copies `bytes` behind the last payload; a large payload gets a slab of its own.
    mutating func copy(_ bytes: RawSpan) -> PayloadSlice {
        let count = bytes.byteCount
        guard count > 0 else { return PayloadSlice(nil, start: 0, count: 0) }
        guard count <= Slab.sharedSize / 4 else {
            let own = Slab(byteCount: count)
            Self.copy(bytes, to: own, at: 0)
            return PayloadSlice(own, start: 0, count: count)
        }
        let current: Slab
        if let slab, used + count <= Slab.sharedSize {
            current = slab
        } else {
            current = Slab(byteCount: Slab.sharedSize)
            slab = current
            used = 0
        }
        Self.copy(bytes, to: current, at: used)
        defer { used += count }
        return PayloadSlice(current, start: used, count: count)
    }

    private static func copy(_ bytes: RawSpan, to slab: Slab, at start: Int) {
        bytes.withUnsafeBytes { bytes in
            UnsafeMutableRawBufferPointer(rebasing: slab.memory[start..<start + bytes.count]).copyMemory(from: bytes)
        }
    }
}
