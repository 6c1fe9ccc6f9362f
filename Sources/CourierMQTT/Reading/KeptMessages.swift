import CourierCore

/// Messages of QoS 1 and 2 without a reader: no reader wanted them, or a reader left them unacknowledged. Each waits for a new
/// reader until its time is over.
///
/// A value without locks and clocks.
struct KeptMessages {
    typealias Instant = ContinuousClock.Instant

    fileprivate struct Element {
        var message: ReceivedMessage
        let topic: TopicName
        /// When its time is over; `nil` is never.
        var end: Instant?

        /// Whether the broker waits for its acknowledgement.
        var isUnfinished: Bool { message.ticket != nil }

        /// How much memory it takes, about.
        var byteCount: Int { MemoryLayout<Element>.stride + message.page.byteCount }
    }

    private let limit: Int
    private let byteLimit: Int
    private var elements: [Element] = []
    /// The approximate memory of the messages in bytes. Unfinished messages do not count.
    private(set) var byteCount = 0
    /// The tickets of unfinished messages.
    private var tickets: Set<ObjectIdentifier> = []

    /// Keeps at most `limit` messages with at most `byteLimit` bytes of memory. Unfinished messages do not count.
    init(limit: Int, byteLimit: Int) {
        self.limit = max(limit, 0)
        self.byteLimit = max(byteLimit, 0)
    }

    private func hasRoom(for element: Element) -> Bool {
        elements.count - tickets.count < limit && byteCount + element.byteCount <= byteLimit
    }

    var count: Int { elements.count }

    /// Keeps a message until `end`; `false` when there is no room.
    mutating func keep(_ message: ReceivedMessage, until end: Instant?) -> Bool {
        guard let topic = try? TopicName(received: message.topic) else { return false }
        let element = Element(message: message.detached(), topic: topic, end: end)
        guard hasRoom(for: element) else { return false }
        elements.append(element)
        byteCount += element.byteCount
        return true
    }

    /// Keeps a message that its reader has not acknowledged, until `end`. Returns `false` if the message is already here, is
    /// being stored or has no ticket. No limit applies, because the reader's buffer limited these messages.
    mutating func keepUnfinished(_ message: ReceivedMessage, until end: Instant) -> Bool {
        guard let ticket = message.ticket, let topic = try? TopicName(received: message.topic),
            !ticket.isBeingStored, tickets.insert(ObjectIdentifier(ticket)).inserted
        else { return false }
        elements.append(Element(message: message.detached(), topic: topic, end: end))
        return true
    }

    /// Takes the messages that match `filter`, or all of them, in order, each with the end of its time.
    mutating func take(_ filter: TopicFilter?) -> [(message: ReceivedMessage, end: Instant?)] {
        removeElements { filter?.matches($0.topic) ?? true }.map { ($0.message, $0.end) }
    }

    /// Removes and returns the messages whose time is over, except unfinished ones.
    mutating func removeExpired(now: Instant) -> [ReceivedMessage] { remove { !$0.isUnfinished && $0.isOver(now) } }

    /// Takes the unfinished messages whose time is over out to be stored; ``storingEnded(_:)`` follows for each.
    mutating func takeUnfinished(now: Instant) -> [ReceivedMessage] {
        takeToStore { $0.isUnfinished && $0.isOver(now) }
    }

    /// Takes the unfinished messages of a topic out to be stored; ``storingEnded(_:)`` follows for each.
    mutating func takeUnfinished(topic: String) -> [ReceivedMessage] {
        tickets.isEmpty ? [] : takeToStore { $0.isUnfinished && $0.message.topic == topic }
    }

    private mutating func takeToStore(where isTaken: (Element) -> Bool) -> [ReceivedMessage] {
        let taken = remove(where: isTaken)
        for message in taken { message.ticket?.isBeingStored = true }
        return taken
    }

    /// A message was stored, or its storing failed.
    func storingEnded(_ message: ReceivedMessage) { message.ticket?.isBeingStored = false }

    /// Puts unfinished messages back in front of later ones. Returns the messages that it does not accept, such as messages that
    /// another reader has left here since.
    mutating func putBack(_ messages: [ReceivedMessage], until end: Instant) -> [ReceivedMessage] {
        let present = elements
        elements = []
        let refused = messages.filter { !keepUnfinished($0, until: end) }
        elements += present
        return refused
    }

    /// Turns unfinished messages whose time is over into kept messages without an end, if there is room. All other unfinished
    /// messages get time until `end`.
    ///
    /// - Returns: The messages that are kept now, with their tickets, and whether no unfinished message is left.
    mutating func finishUnfinished(now: Instant, orUntil end: Instant) -> (finished: [ReceivedMessage], areAll: Bool) {
        var finished: [ReceivedMessage] = []
        var areAll = true
        for index in elements.indices where elements[index].isUnfinished && elements[index].isOver(now) {
            let message = elements[index].message
            guard let ticket = message.ticket, hasRoom(for: elements[index]) else {
                elements[index].end = end
                areAll = false
                continue
            }
            finished.append(message)
            tickets.remove(ObjectIdentifier(ticket))
            elements[index].message = message.ticketed(nil)
            elements[index].end = nil
            byteCount += elements[index].byteCount
        }
        return (finished, areAll)
    }

    /// When the time of the first unfinished message is over.
    var nextUnfinishedEnd: Instant? { elements.lazy.filter(\.isUnfinished).compactMap(\.end).min() }

    /// The connection has ended. Removes unfinished messages of QoS 1, because the broker sends them again. Those of QoS 2 stay:
    /// the engine knows their packet ids, and their acknowledgements count on the next connection.
    mutating func connectionLost() { _ = remove { $0.isUnfinished && $0.message.qos.asSubscribed != .two } }

    mutating func removeAll() { (elements, tickets, byteCount) = ([], [], 0) }

    private mutating func remove(where isRemoved: (Element) -> Bool) -> [ReceivedMessage] {
        removeElements(where: isRemoved).map(\.message)
    }

    private mutating func removeElements(where isRemoved: (Element) -> Bool) -> [Element] {
        guard !elements.isEmpty else { return [] }
        let removed = elements.filter(isRemoved)
        guard !removed.isEmpty else { return [] }
        elements.removeAll(where: isRemoved)
        for element in removed {
            if let ticket = element.message.ticket {
                tickets.remove(ObjectIdentifier(ticket))
            } else {
                byteCount -= element.byteCount
            }
        }
        return removed
    }
}

extension KeptMessages.Element {
    fileprivate func isOver(_ now: KeptMessages.Instant) -> Bool {
        guard let end else { return false }
        return end <= now
    }
}
