/// The open exchanges of one end of a connection, by packet id.
///
/// The last bits of a packet id are its index in the table. If two open exchanges have the same index, the table grows.
/// Packet ids are usually assigned in sequence, so a table that is as large as the range of open packet ids has no such
/// collision. A usual connection needs a few KiB. A connection that uses packet ids from the whole range at once needs
/// 1.5 MiB.
struct ExchangeTable {
    /// The packet that began an exchange.
    struct Start {
        /// The row number of the packet, or ``none`` if no exchange is open.
        var row = Start.none
        var time: Int64 = 0
        var id: UInt16 = 0
        var qos: UInt8 = 0

        static let none = UInt64.max
    }

    private static let smallestCapacity = 64
    /// When the last exchange is closed, a table with more entries than this number frees its memory.
    private static let keptCapacity = 4_096

    /// The entries of the table. The number of entries is a power of two, or 0.
    private var places: ContiguousArray<Start> = []

    /// The number of open exchanges.
    private(set) var count = 0

    /// Returns the start of the open exchange with this id, or `nil` if no exchange is open.
    @inline(__always)
    func start(_ id: UInt16) -> Start? {
        guard !places.isEmpty else { return nil }
        let start = places[place(of: id)]
        return start.id == id && start.row != Start.none ? start : nil
    }

    /// Opens an exchange. The new exchange replaces an open exchange with the same id.
    @inline(__always)
    mutating func open(_ start: Start) {
        if places.isEmpty { places = ContiguousArray(repeating: Start(), count: Self.smallestCapacity) }
        var place = place(of: start.id)
        if places[place].row == Start.none {
            count &+= 1
        } else if places[place].id != start.id {
            place = grow(for: start.id)
            count &+= 1
        }
        places[place] = start
    }

    /// Closes an exchange. Returns the packet that began it, or `nil` if the exchange was not open.
    @inline(__always)
    mutating func close(_ id: UInt16) -> Start? {
        guard !places.isEmpty else { return nil }
        let place = place(of: id)
        let start = places[place]
        guard start.id == id, start.row != Start.none else { return nil }
        places[place].row = Start.none
        count &-= 1
        if count == 0, places.count > Self.keptCapacity { places = [] }
        return start
    }

    /// Calls `next` repeatedly, and opens each returned exchange, until `next` returns `nil`. Also stops before an
    /// exchange for which the table would have to grow.
    @inline(__always)
    mutating func open(_ next: () -> Start?) {
        if places.isEmpty { places = ContiguousArray(repeating: Start(), count: Self.smallestCapacity) }
        let mask = places.count &- 1
        var opened = 0
        var places = places.mutableSpan
        while let start = next() {
            let place = Int(start.id) & mask
            if places[place].row == Start.none {
                opened &+= 1
            } else if places[place].id != start.id {
                break
            }
            places[place] = start
        }
        count &+= opened
    }

    /// Calls `found` with the start of every open exchange whose id `next` returns, until `next` returns `nil`. Closes
    /// the exchanges if `closing` is true.
    @inline(__always)
    mutating func find(closing: Bool, _ next: () -> UInt16?, _ found: (Start) -> Void) {
        guard !places.isEmpty else {
            while next() != nil {}
            return
        }
        let mask = places.count &- 1
        var closed = 0
        var span = places.mutableSpan
        while let id = next() {
            let place = Int(id) & mask
            guard span[place].id == id, span[place].row != Start.none else { continue }
            found(span[place])
            guard closing else { continue }
            span[place].row = Start.none
            closed &+= 1
        }
        count &-= closed
        if count == 0, places.count > Self.keptCapacity { places = [] }
    }

    /// Forgets all exchanges and frees the memory.
    mutating func removeAll() { self = ExchangeTable() }

    @inline(__always)
    private func place(of id: UInt16) -> Int { Int(id) & (places.count &- 1) }

    /// Doubles the table until the entry for `id` is free. Returns the index of the entry.
    private mutating func grow(for id: UInt16) -> Int {
        repeat {
            let open = places.filter { $0.row != Start.none }
            places = ContiguousArray(repeating: Start(), count: places.count * 2)
            for start in open { places[place(of: start.id)] = start }
        } while places[place(of: id)].row != Start.none
        return place(of: id)
    }
}
