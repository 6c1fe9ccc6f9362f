import CourierCore

/// Consecutive messages with the same readers, on the page (memory block) that the event loop is filling now.
struct MessageRun: Equatable {
    /// The indexes of the messages on the page.
    var indexes: Range<UInt32> = 0..<0
    /// The number of bytes that the messages take on the page.
    var byteCount = 0
    /// The number of messages of QoS 0.
    var disposableCount = 0

    /// Adds the message at `index`, which is the last message on the page. `byteCount` is the size of its payload and
    /// properties.
    mutating func append(_ index: UInt32, byteCount: Int, isDisposable: Bool) {
        indexes = (indexes.isEmpty ? index : indexes.lowerBound)..<index + 1
        self.byteCount += byteCount + MemoryLayout<MessagePage.Entry>.stride
        if isDisposable { disposableCount += 1 }
    }
}

/// The messages that have arrived for one reader since the last delivery to its queue. Used on the event loop only.
struct ReaderShare {
    /// If a reader's messages use less than one half (1 / `sparseness`) of a page's bytes, they are copied to a smaller
    /// page. So the waiting messages do not keep the whole page in memory.
    private static let sparseness = 2

    /// The indexes of the reader's messages on the page that is being written.
    private var indexes: [UInt32] = []
    /// The ticket that acknowledges each message in `indexes`; `nil` if the message needs no acknowledgement. The list
    /// is empty if no message needs a ticket.
    private var tickets: [AcknowledgementTicket?] = []
    private var disposableCount = 0
    private var byteCount = 0
    private var lastCount = 0
    /// True if a message was added after the last delivery to the readers' queues. Each delivery sets the flag to
    /// false, even if the messages of this reader must wait for a later delivery.
    var isTouched = false
    /// The reader's messages on pages (memory blocks) that are complete.
    private var slices: [MessageSlice] = []
    /// The number of messages in `slices`. `finishedByteCount` is the memory of these messages in bytes.
    private(set) var finishedCount = 0
    private(set) var finishedByteCount = 0
    /// The number of slices at the start of `slices` with messages that arrived before the reader was added. These
    /// messages had no reader, or another reader did not finish them.
    private var earlierCount = 0

    init() {}

    /// Adds consecutive messages of the page that is being written. `ticket` acknowledges them; `nil` if they need no
    /// acknowledgement.
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

    /// Adds messages of a page that is complete.
    mutating func append(_ slice: MessageSlice) {
        slices.append(slice)
        finishedCount += slice.count
        finishedByteCount += slice.byteCount
    }

    /// Inserts a QoS 1 or 2 message that arrived before the reader was added. The message is placed behind all messages
    /// of this kind, and before newly arrived messages.
    mutating func insertEarlier(_ slice: MessageSlice) {
        slices.insert(slice, at: earlierCount)
        earlierCount += 1
        finishedCount += slice.count
        finishedByteCount += slice.byteCount
    }

    /// Keeps the first `limit` messages in `slices`, and drops the QoS 0 messages after them.
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

    /// Removes and returns the messages in `slices`.
    mutating func take() -> [MessageSlice] {
        defer { (slices, earlierCount, finishedCount, finishedByteCount) = ([], 0, 0, 0) }
        return slices
    }

    /// Reuses the memory of an array that ``take()`` returned. The array must be empty.
    mutating func reuse(_ spent: inout [MessageSlice]) {
        if slices.isEmpty, spent.isEmpty { swap(&slices, &spent) }
    }

    /// Makes a slice of the reader's messages on `page`, because the page is complete now. `arrival` is the highest
    /// serial number of a reader or session when the messages arrived.
    mutating func finish(_ page: MessagePage, arrival: Int = 0) {
        guard !indexes.isEmpty else { return }
        lastCount = indexes.count
        // `byteCount` and `messageByteCount` can be compared, because neither of these numbers includes topics.
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
