import CProtobufC

/// An arena: it allocates the memory for one message that is read or written, and frees all memory at once.
///
/// A budget limits the memory from the heap. If a message needs more, the allocation fails and the message is refused.
/// The first block belongs to the caller and is large enough for a small message.
@usableFromInline
struct MessageArena: ~Copyable {
    /// The memory that an arena (a memory allocator) has not yet used. Another arena may use it while the first arena
    /// allocates nothing.
    struct Rest {
        /// The start of the free part of the last block, aligned to 8 bytes.
        var start: UnsafeMutableRawPointer?
        /// The number of free bytes at `start`.
        var size = 0
        /// The number of bytes that may still be allocated from the heap.
        var budget: Int
    }

    @usableFromInline var cursor: UnsafeMutableRawPointer
    @usableFromInline var remaining: Int
    /// The newest block from the heap. The first word of each block holds the address of the previous block.
    private var lastBlock: UnsafeMutableRawPointer?
    private var nextBlockSize = 16 << 10
    /// The number of bytes that may still be allocated from the heap.
    private var budget: Int
    private(set) var isExhausted = false
    /// The number of message levels that may still be entered while a message is written.
    var depthLeft: Int

    private static let largestBlock = 8 << 20
    private static let stackSize = 2 << 10

    /// - Parameters:
    ///   - start: The first memory block, aligned to 8 bytes. It must outlive the arena.
    ///   - size: The size of the first block in bytes.
    ///   - budget: The number of bytes that may be allocated from the heap.
    ///   - depth: The largest number of nested message levels.
    init(start: UnsafeMutableRawPointer, size: Int, budget: Int, depth: Int) {
        cursor = start
        remaining = size & ~7
        self.budget = budget
        depthLeft = depth
    }

    /// Runs `body` with an arena (a memory allocator). The arena's first block is the memory of `rest` or a block on
    /// the stack, whichever is larger.
    static func with<Result>(
        _ rest: Rest, depth: Int, _ body: (UnsafeMutablePointer<MessageArena>) throws -> Result
    ) rethrows -> Result {
        try withUnsafeTemporaryAllocation(of: UInt64.self, capacity: stackSize / 8) { stack in
            try withUnsafeTemporaryAllocation(of: MessageArena.self, capacity: 1) { place in
                guard let stackStart = stack.baseAddress, let arena = place.baseAddress else {
                    preconditionFailure("memory on the stack has no address")
                }
                var start = UnsafeMutableRawPointer(stackStart)
                var size = stackSize
                if let blockStart = rest.start, rest.size > size { (start, size) = (blockStart, rest.size) }
                arena.initialize(to: MessageArena(start: start, size: size, budget: rest.budget, depth: depth))
                defer { arena.deinitialize(count: 1) }
                return try body(arena)
            }
        }
    }

    deinit {
        var block = lastBlock
        while let this = block {
            block = this.load(as: UnsafeMutableRawPointer?.self)
            this.deallocate()
        }
    }

    var rest: Rest { Rest(start: cursor, size: remaining, budget: budget) }

    /// Returns uninitialized memory that is aligned to 8 bytes; `nil` if the budget is exhausted.
    @inlinable
    mutating func allocate(_ size: Int) -> UnsafeMutableRawPointer? {
        // If the size is near Int.max, the sum overflows to a negative number. `allocateInNewBlock` refuses negative
        // sizes.
        let rounded = (size &+ 7) & ~7
        guard size >= 0, rounded >= 0, rounded <= remaining else { return allocateInNewBlock(size < 0 ? -1 : rounded) }
        let place = cursor
        cursor += rounded
        remaining &-= rounded
        return place
    }

    @usableFromInline
    mutating func allocateInNewBlock(_ size: Int) -> UnsafeMutableRawPointer? {
        let header = 16
        let blockSize = max(nextBlockSize, size &+ header)
        guard size >= 0, size <= budget - header, blockSize >= size else {
            isExhausted = true
            return nil
        }
        let charged = min(blockSize, budget)
        budget -= charged
        nextBlockSize = min(nextBlockSize * 2, Self.largestBlock)
        let block = UnsafeMutableRawPointer.allocate(byteCount: charged, alignment: 16)
        block.storeBytes(of: lastBlock, as: UnsafeMutableRawPointer?.self)
        lastBlock = block
        cursor = block + header + size
        remaining = (charged - header - size) & ~7
        return block + header
    }

    /// Sets the expected memory use in bytes. The next block from the heap has at least this size, up to 8 MiB.
    mutating func expect(_ size: Int) { nextBlockSize = min(max(nextBlockSize, size), Self.largestBlock) }
}

extension ProtobufCAllocator {
    /// Creates an allocator for libprotobuf-c that uses an arena. The arena must stay at its address. If libprotobuf-c
    /// frees a single allocation, nothing happens, because the arena frees all memory at once.
    init(_ arena: UnsafeMutablePointer<MessageArena>) {
        self.init(
            alloc: { arena, size in
                guard let arena, let size = Int(exactly: size) else { return nil }
                return arena.assumingMemoryBound(to: MessageArena.self).pointee.allocate(size)
            },
            free: { _, _ in },
            allocator_data: arena)
    }
}
