/// A timetable of arrivals: a ring with one slot per millisecond. Each slot lists the clients that arrive then.
///
/// The lists are linked blocks in one array. A block has 32 numbers: the next block of the slot, the number of its
/// clients, and the clients. Blocks keep memory small and access fast, even with millions of entries added in one order
/// and removed in another.
struct Plan {
    private static let blockSize = 32
    private static let none: Int32 = -1

    /// The first block of each millisecond. The ring is longer than any pause plus its latency and timeout.
    private var first: [Int32] = Array(repeating: none, count: 1 << 18)
    private var store: [Int32] = []
    /// The first block in the list of unused blocks.
    private var free = none

    /// Adds `client` to the slot of `time`. The time must be nearer than the length of the ring.
    mutating func add(_ client: Int32, at time: Int) {
        let slot = time & (first.count - 1)
        var block = Int(first[slot])
        if block < 0 || store[block + 1] == Int32(Self.blockSize - 2) {
            let made = take()
            store[made] = Int32(block)
            store[made + 1] = 0
            first[slot] = Int32(made)
            block = made
        }
        let count = store[block + 1]
        store[block + 2 + Int(count)] = client
        store[block + 1] = count + 1
    }

    /// Removes the clients of `time` and appends them to `clients`.
    mutating func remove(at time: Int, into clients: inout [Int32]) {
        let slot = time & (first.count - 1)
        var block = first[slot]
        first[slot] = Self.none
        while block >= 0 {
            let start = Int(block)
            clients.append(contentsOf: store[(start + 2)..<(start + 2 + Int(store[start + 1]))])
            let next = store[start]
            store[start] = free
            free = block
            block = next
        }
    }

    private mutating func take() -> Int {
        guard free >= 0 else {
            store.append(contentsOf: repeatElement(0, count: Self.blockSize))
            return store.count - Self.blockSize
        }
        let block = Int(free)
        free = store[block]
        return block
    }
}
