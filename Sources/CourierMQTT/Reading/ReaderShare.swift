import CourierCore

/// Messages one after the other on the page that is being written, all for the same readers.
struct MessageRun: Equatable {
    /// Where they are.
    var indexes: Range<UInt32> = 0..<0
    /// Their bytes on the page.
    var byteCount = 0
    /// How many of them have QoS 0.
    var disposableCount = 0

    /// Adds the message at the end of the page.
    mutating func append(_ index: UInt32, byteCount: Int, isDisposable: Bool) {
        indexes = (indexes.isEmpty ? index : indexes.lowerBound)..<index + 1
        self.byteCount += byteCount + MemoryLayout<MessagePage.Entry>.stride
        if isDisposable { disposableCount += 1 }
    }
}

/// The messages that have arrived for one reader since the last delivery to it. On the event loop only.
struct ReaderShare {
    /// If a reader gets less than this fraction of a page, its messages are copied to another page, so that waiting messages do
    /// not keep much more memory than they need.
    private static let sparseness = 2

    /// Which messages of the page that is being written.
    private var indexes: [UInt32] = []
    /// For each of them what acknowledges it; empty while that is nothing.
    private var tickets: [AcknowledgementTicket?] = []
    private var disposableCount = 0
    private var byteCount = 0
    private var lastCount = 0
    /// Whether a message has arrived since the last delivery. If so, held-back messages stay.
    var isTouched = false
    /// Messages of pages that are finished.
    private var slices: [MessageSlice] = []
    /// How many messages those are, and how much memory they take.
    private(set) var finishedCount = 0
    private(set) var finishedByteCount = 0
    /// How many of the first of the slices came before the reader did.
    private var earlierCount = 0

    init() {}

    /// Adds messages of the page that is being written, which `ticket` acknowledges, if anything does.
    mutating func append(_ run: MessageRun, ticket: AcknowledgementTicket? = nil) {
        if indexes.isEmpty { indexes.reserveCapacity(max(lastCount, run.indexes.count)) }
        if ticket != nil || !tickets.isEmpty {
            while tickets.count < indexes.count { tickets.append(nil) }
            for _ in run.indexes { tickets.append(ticket) }
        }
        indexes.append(contentsOf: run.indexes)
        disposableCount += run.disposableCount
        byteCount += run.byteCount
    }

    /// Adds a message of another page.
    mutating func append(_ slice: MessageSlice) {
        slices.append(slice)
        finishedCount += slice.count
        finishedByteCount += slice.byteCount
    }

    /// Adds a message of QoS>0 that is older than the reader: in front of newly arrived messages, and behind other old ones.
    mutating func insertEarlier(_ slice: MessageSlice) {
        slices.insert(slice, at: earlierCount)
        earlierCount += 1
        finishedCount += slice.count
        finishedByteCount += slice.byteCount
    }

    /// Gives up messages of QoS 0 of finished pages beyond so many messages.
    mutating func dropNewest(beyond limit: Int) {
        var before = finishedCount
        for index in slices.indices.reversed() where before > limit {
            before -= slices[index].count
            let bytesBefore = slices[index].byteCount
            finishedCount -= slices[index].dropNewest(beyond: max(0, limit - before))
            finishedByteCount -= bytesBefore - slices[index].byteCount
        }
        slices.removeAll { $0.isEmpty }
    }

    /// Takes the messages of finished pages.
    mutating func take() -> [MessageSlice] {
        defer { (slices, earlierCount, finishedCount, finishedByteCount) = ([], 0, 0, 0) }
        return slices
    }

    /// Takes the memory of an array that ``take()`` gave back, emptied.
    mutating func reuse(_ spent: inout [MessageSlice]) {
        if slices.isEmpty, spent.isEmpty { swap(&slices, &spent) }
    }

    /// The page is finished; its messages came between the reader with this serial and the next one.
    mutating func finish(_ page: MessagePage, arrival: Int = 0) {
        guard !indexes.isEmpty else { return }
        lastCount = indexes.count
        // Neither side counts topics.
        let isSparse =
            page.byteCount > MessageSlice.toleratedPageByteCount
            && byteCount * Self.sparseness < page.messageByteCount
        let slice =
            isSparse
            ? MessageSlice(
                page.extracting(indexes), Array(0..<UInt32(indexes.count)), tickets: tickets,
                disposableCount: disposableCount, arrival: arrival)
            : MessageSlice(page, indexes, tickets: tickets, disposableCount: disposableCount, arrival: arrival)
        append(slice)
        (indexes, tickets, disposableCount, byteCount) = ([], [], 0, 0)
    }
}
