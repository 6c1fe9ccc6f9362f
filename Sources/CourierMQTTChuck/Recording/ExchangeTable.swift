/// The open exchanges of one end of a connection, by packet id.
///
/// Ids are used in runs, so the table has pages of 256 and only those in use are kept: the worst connection, with all
/// 65,535 ids in flight, takes 1.5 MiB, a usual one a few KiB.
struct ExchangeTable {
    /// The packet that began an exchange.
    struct Start {
        /// The number of its row; ``none`` where no exchange is open.
        var row = Start.none
        var time: Int64 = 0
        var qos: UInt8 = 0

        static let none = UInt64.max
    }

    private static let pageSize = 256
    private static let noPage: Int32 = -1

    /// The pages that were ever in use at once, behind each other.
    private var starts: [Start] = []
    /// Where the page of 256 ids is in ``starts``.
    private var pages: [Int32] = []
    private var pageUse: [UInt16] = []
    private var freePages: [Int32] = []

    /// How many exchanges are open.
    private(set) var count = 0

    /// The start of the exchange with this id, if one is open.
    @inline(__always)
    func start(_ id: UInt16) -> Start? {
        guard !pages.isEmpty else { return nil }
        let page = pages[Int(id &>> 8)]
        guard page != Self.noPage else { return nil }
        let start = starts[Int(page) &* Self.pageSize &+ Int(id & 0xFF)]
        return start.row == Start.none ? nil : start
    }

    /// Opens an exchange, in place of one that is open.
    @inline(__always)
    mutating func open(_ id: UInt16, _ start: Start) {
        if pages.isEmpty { pages = [Int32](repeating: Self.noPage, count: 256) }
        let high = Int(id &>> 8)
        if pages[high] == Self.noPage { addPage(high) }
        let page = Int(pages[high])
        let index = page &* Self.pageSize &+ Int(id & 0xFF)
        if starts[index].row == Start.none {
            pageUse[page] &+= 1
            count &+= 1
        }
        starts[index] = start
    }

    /// Closes an exchange, and returns its start if it was open.
    @inline(__always)
    mutating func close(_ id: UInt16) -> Start? {
        let high = Int(id &>> 8)
        guard !pages.isEmpty, pages[high] != Self.noPage else { return nil }
        let page = Int(pages[high])
        let index = page &* Self.pageSize &+ Int(id & 0xFF)
        let start = starts[index]
        guard start.row != Start.none else { return nil }
        starts[index].row = Start.none
        count &-= 1
        pageUse[page] &-= 1
        if pageUse[page] == 0 {
            freePages.append(pages[high])
            pages[high] = Self.noPage
        }
        return start
    }

    /// Forgets all exchanges and gives the memory back.
    mutating func removeAll() { self = ExchangeTable() }

    private mutating func addPage(_ high: Int) {
        if let free = freePages.popLast() {
            pages[high] = free
            return
        }
        pages[high] = Int32(pageUse.count)
        pageUse.append(0)
        starts.append(contentsOf: repeatElement(Start(), count: Self.pageSize))
    }
}
