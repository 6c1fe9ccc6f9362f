import CProtobufC

/// The memory of one message while it is read or written: handed out from the front, given back all at once.
///
/// A budget bounds it, so a message that asks for more than it may ends in an error. It starts in memory of the caller,
/// which is enough for a small message.
@usableFromInline
struct MessageArena: ~Copyable {
    /// What an arena has not handed out. Another arena may hand it out while the first one stays as it is.
    struct Rest {
        /// Where what is free of the last block begins, aligned to 8.
        var start: UnsafeMutableRawPointer?
        /// How many bytes are free there.
        var size = 0
        /// How many more bytes may be taken from the heap.
        var budget: Int
    }

    @usableFromInline var cursor: UnsafeMutableRawPointer
    @usableFromInline var remaining: Int
    /// Blocks from the heap, each with the address of the one before in its first word.
    private var lastBlock: UnsafeMutableRawPointer?
    private var nextBlockSize = 16 << 10
    /// How many more bytes may be taken from the heap.
    private var budget: Int
    private(set) var isExhausted = false
    /// How many more messages may stand in each other; counted while writing.
    var depthLeft: Int

    private static let largestBlock = 8 << 20
    private static let stackSize = 2 << 10

    /// - Parameters:
    ///   - start: Memory for the beginning, aligned to 8; it has to outlive the arena.
    ///   - size: How many bytes of it there are.
    ///   - budget: How many bytes may be taken from the heap.
    ///   - depth: How deeply messages may stand in each other.
    init(start: UnsafeMutableRawPointer, size: Int, budget: Int, depth: Int) {
        cursor = start
        remaining = size & ~7
        self.budget = budget
        depthLeft = depth
    }

    /// Runs `body` with an arena that starts in the block of `rest`, or on the stack where there is more room.
    static func with<Result>(
        _ rest: Rest, depth: Int, _ body: (UnsafeMutablePointer<MessageArena>) throws -> Result
    ) rethrows -> Result {
        try withUnsafeTemporaryAllocation(of: UInt64.self, capacity: stackSize / 8) { stack in
            try withUnsafeTemporaryAllocation(of: MessageArena.self, capacity: 1) { place in
                guard let stackStart = stack.baseAddress, let arena = place.baseAddress else {
                    preconditionFailure("memory on the stack has an address")
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

    /// Memory that starts at a multiple of 8, not cleared; `nil` when the budget is used up.
    @inlinable
    mutating func allocate(_ size: Int) -> UnsafeMutableRawPointer? {
        // A size near Int.max wraps to a negative one, which the slow path refuses.
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

    /// Hints that about this much will be asked for, so that one block serves it.
    mutating func expect(_ size: Int) { nextBlockSize = min(max(nextBlockSize, size), Self.largestBlock) }
}

extension ProtobufCAllocator {
    /// Lets libprotobuf-c take from an arena, which has to stay where it is; giving back single pieces does nothing.
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
