/// The open exchanges of one end of a connection, by packet id.
///
/// Ids are used in runs, so the last bits of an id tell the place: a table that is no smaller than the run has no two ids
/// for one place, and one that has them grows. The worst connection, with ids in flight from all over, takes 1.5 MiB, a
/// usual one a few KiB.
struct ExchangeTable {
    /// The packet that began an exchange.
    struct Start {
        /// The number of its row; ``none`` where no exchange is open.
        var row = Start.none
        var time: Int64 = 0
        var id: UInt16 = 0
        var qos: UInt8 = 0

        static let none = UInt64.max
    }

    private static let smallestCapacity = 64
    /// How many places are kept while no exchange is open.
    private static let keptCapacity = 4_096

    /// As many as a power of two, or none.
    private var places: [Start] = []

    /// How many exchanges are open.
    private(set) var count = 0

    /// The start of the exchange with this id, if one is open.
    @inline(__always)
    func start(_ id: UInt16) -> Start? {
        guard !places.isEmpty else { return nil }
        let start = places[place(of: id)]
        return start.id == id && start.row != Start.none ? start : nil
    }

    /// Opens an exchange, in place of one that is open with its id.
    @inline(__always)
    mutating func open(_ start: Start) {
        if places.isEmpty { places = [Start](repeating: Start(), count: Self.smallestCapacity) }
        var place = place(of: start.id)
        if places[place].row == Start.none {
            count &+= 1
        } else if places[place].id != start.id {
            place = grow(for: start.id)
            count &+= 1
        }
        places[place] = start
    }

    /// Closes an exchange, and returns its start if it was open.
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

    /// Opens exchanges one after the other as long as `next` gives one that needs no more memory; the last that it gave is
    /// not open then.
    @inline(__always)
    mutating func open(_ next: () -> Start?) {
        if places.isEmpty { places = [Start](repeating: Start(), count: Self.smallestCapacity) }
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

    /// Gives `found` the starts of ids one after the other, as long as `next` gives one, and closes them if that is wanted.
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

    /// Forgets all exchanges and gives the memory back.
    mutating func removeAll() { self = ExchangeTable() }

    @inline(__always)
    private func place(of id: UInt16) -> Int { Int(id) & (places.count &- 1) }

    /// Makes more places, until `id` has one of its own.
    private mutating func grow(for id: UInt16) -> Int {
        repeat {
            let open = places.filter { $0.row != Start.none }
            places = [Start](repeating: Start(), count: places.count * 2)
            for start in open { places[place(of: start.id)] = start }
        } while places[place(of: id)].row != Start.none
        return place(of: id)
    }
}
