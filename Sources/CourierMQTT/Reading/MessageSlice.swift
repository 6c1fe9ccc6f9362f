import CourierCore

/// The messages of one memory block (`MessagePage`) for one reader, in the order of their arrival. Splitting a slice
/// copies no message.
struct MessageSlice: Sendable {
    private var page: MessagePage
    /// The highest serial number of a reader or session when the messages arrived. Readers and sessions with a higher
    /// number began later.
    private let arrival: Int
    /// The indexes of the messages on the page.
    private var indexes: [UInt32]
    /// One ticket for each message; `nil` if a message needs no acknowledgement. The list is empty if no message needs
    /// an acknowledgement.
    private var tickets: [AcknowledgementTicket?]
    /// True if a message of the slice had to be acknowledged when the slice was made. Stays true after this message was
    /// removed from the slice, because ``ReaderQueue`` counts the slices with this flag.
    private(set) var hasTickets: Bool
    /// The range of `indexes` whose messages still belong to this slice.
    private var range: Range<Int>
    /// The number of remaining messages of QoS 0, which may be dropped.
    private(set) var disposableCount: Int
    /// The approximate memory of the page, the indexes and the tickets, in bytes. If the slice is split, each part gets
    /// a share of this number in proportion to its number of messages.
    private(set) var byteCount: Int

    /// The memory of one element of `indexes`, in bytes. `ticketByteCount` is the memory of one element of `tickets`
    /// with its ticket and the overhead of the allocator, as measured by `Scripts/flood`.
    private static let indexByteCount = MemoryLayout<UInt32>.stride
    static let ticketByteCount = 160
    /// The memory of a slice without its messages, in bytes.
    private static let overhead = 128

    /// Makes a slice of messages with the same `arrival`. `tickets` is empty or has one element per message, and
    /// `disposableCount` messages have QoS 0.
    init(
        _ page: MessagePage, _ indexes: [UInt32], tickets: [AcknowledgementTicket?], disposableCount: Int = 0,
        arrival: Int = 0
    ) {
        self.page = page
        self.arrival = arrival
        self.indexes = indexes
        self.tickets = tickets
        hasTickets = !tickets.isEmpty
        range = indexes.indices
        self.disposableCount = disposableCount
        byteCount = 0
        if !indexes.isEmpty { byteCount = heldByteCount }
    }

    private var heldByteCount: Int {
        Self.overhead + page.byteCount + indexes.count * Self.indexByteCount + tickets.count * Self.ticketByteCount
    }

    /// Makes a slice of one message. If the message shares its page with other messages, it is copied to a page of its
    /// own.
    init(_ message: ReceivedMessage) {
        let message = message.detached()
        self.init(
            message.page, [message.index], tickets: message.ticket.map { [$0] } ?? [],
            disposableCount: message.qos == .zero ? 1 : 0, arrival: message.arrival)
    }

    /// Appends the messages of the slice to `messages`, as values that the app cannot acknowledge.
    func append(to messages: inout [Message]) {
        for position in range { messages.append(Message(page, indexes[position])) }
    }

    /// Removes and returns the first `limit` messages, or all messages if there are fewer.
    mutating func takePrefix(_ limit: Int) -> MessageSlice {
        guard limit < count else {
            defer { removeEverything() }
            return self
        }
        var prefix = self
        prefix.range = range.prefix(limit)
        prefix.byteCount = byteCount * limit / count
        byteCount -= prefix.byteCount
        if disposableCount == count {
            prefix.disposableCount = limit
        } else if disposableCount > 0 {
            prefix.disposableCount = prefix.range.count { isDisposable($0) }
        }
        range = range.dropFirst(limit)
        disposableCount -= prefix.disposableCount
        return prefix
    }

    /// Drops the oldest messages of QoS 0, at most `limit`. Returns the number of dropped messages.
    mutating func dropOldest(_ limit: Int) -> Int { drop(Swift.min(limit, disposableCount), from: range.lowerBound) }

    /// Drops the messages of QoS 0 after the first `room` messages. Returns the number of dropped messages.
    mutating func dropNewest(beyond room: Int) -> Int {
        guard disposableCount > 0 else { return 0 }
        return drop(disposableCount, from: Swift.min(range.upperBound, range.lowerBound + room))
    }

    /// Empties the slice and releases its page. Otherwise, an empty slice that stays in a list would keep the page in
    /// memory.
    private mutating func removeEverything() {
        let hadTickets = hasTickets
        self = MessageSlice(.empty, [], tickets: [])
        hasTickets = hadTickets
    }

    private func isDisposable(_ position: Int) -> Bool { page.entries[Int(indexes[position])].qos == .zero }

    /// Drops at most `limit` messages of QoS 0, starting at the position `first`, and closes the gaps. Returns the
    /// number of dropped messages.
    private mutating func drop(_ limit: Int, from first: Int) -> Int {
        guard limit > 0 else { return 0 }
        let countBefore = count
        defer {
            byteCount = byteCount * count / countBefore
            leavePage()
        }
        if first == range.lowerBound, disposableCount == count {
            range = range.dropFirst(limit)
            disposableCount -= limit
            return limit
        }
        var dropped = 0
        var kept = first
        for position in first..<range.upperBound {
            if dropped < limit, isDisposable(position) {
                dropped += 1
            } else {
                indexes[kept] = indexes[position]
                if !tickets.isEmpty { tickets[kept] = tickets[position] }
                kept += 1
            }
        }
        range = range.lowerBound..<kept
        disposableCount -= dropped
        return dropped
    }
}

extension MessageSlice {
    /// A page of at most this size, 2 KiB, is never replaced by a smaller copy. Such a copy would save little memory.
    static let toleratedPageByteCount = 2 << 10

    /// If the messages use less than three quarters of their page, copies them to a smaller page. So the messages do
    /// not keep the whole page in memory.
    private mutating func leavePage() {
        if isEmpty { return removeEverything() }
        guard page.byteCount > Self.toleratedPageByteCount, byteCount < page.byteCount / 4 * 3 else { return }
        page = page.extracting(indexes[range])
        if !tickets.isEmpty { tickets = Array(tickets[range]) }
        indexes = Array(0..<UInt32(count))
        range = indexes.indices
        byteCount = heldByteCount
    }
}

extension MessageSlice: RandomAccessCollection {
    var startIndex: Int { range.lowerBound }
    var endIndex: Int { range.upperBound }

    subscript(position: Int) -> ReceivedMessage {
        ReceivedMessage(
            page: page, index: indexes[position], arrival: arrival,
            ticket: tickets.isEmpty ? nil : tickets[position])
    }
}

extension [MessageSlice] {
    /// Returns the slices without their first `count` messages.
    func dropping(_ count: Int) -> [MessageSlice] {
        var left = count
        var rest: [MessageSlice] = []
        for var slice in self {
            left -= slice.takePrefix(Swift.max(left, 0)).count
            if !slice.isEmpty { rest.append(slice) }
        }
        return rest
    }

    /// True if all messages have QoS 0, and may be dropped.
    var areDisposable: Bool { allSatisfy { $0.disposableCount == $0.count } }

    /// The messages that the client keeps if their reader ends without reading them, oldest first.
    var worthKeeping: [ReceivedMessage] {
        var messages: [ReceivedMessage] = []
        for slice in self where slice.disposableCount < slice.count || slice.hasTickets {
            for message in slice where message.isWorthKeeping { messages.append(message) }
        }
        return messages
    }

    /// Acknowledges all messages on behalf of their reader.
    func acknowledge() {
        for slice in self where slice.hasTickets {
            for message in slice { message.acknowledge() }
        }
    }
}
