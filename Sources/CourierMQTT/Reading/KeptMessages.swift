import CourierCore

/// Received QoS 1 and 2 messages that wait in memory for a new reader, each until its end time. Either the message had
/// no reader when it arrived, or its reader did not finish it.
///
/// A message is *unfinished* while the broker waits for its acknowledgement.
///
/// This struct uses no lock and reads no clock.
struct KeptMessages {
    typealias Instant = ContinuousClock.Instant

    /// One message and the time until which it is kept.
    fileprivate struct Element {
        var message: ReceivedMessage
        let topic: TopicName
        /// The time until which the message is kept; `nil` for no limit.
        var end: Instant?

        /// True if the broker waits for the acknowledgement of the message.
        var isUnfinished: Bool { message.ticket != nil }

        /// The approximate memory of the element in bytes.
        var byteCount: Int { MemoryLayout<Element>.stride + message.page.byteCount }
    }

    private let limit: Int
    private let byteLimit: Int
    private var elements: [Element] = []
    /// The approximate memory of the acknowledged messages in bytes. Messages that still await their acknowledgement do
    /// not count.
    private(set) var byteCount = 0
    /// The tickets of the messages that still await their acknowledgement.
    private var tickets: Set<ObjectIdentifier> = []

    /// Creates an empty list for at most `limit` messages and `byteLimit` bytes of memory. Messages that still await
    /// their acknowledgement do not count.
    init(limit: Int, byteLimit: Int) {
        self.limit = max(limit, 0)
        self.byteLimit = max(byteLimit, 0)
    }

    private func hasRoom(for element: Element) -> Bool {
        elements.count - tickets.count < limit && byteCount + element.byteCount <= byteLimit
    }

    var count: Int { elements.count }

    /// Keeps a message until `end`; `nil` for no limit. Returns `false` if there is no room, or if the topic of the
    /// message is invalid.
    mutating func keep(_ message: ReceivedMessage, until end: Instant?) -> Bool {
        guard let topic = try? TopicName(received: message.topic) else { return false }
        let element = Element(message: message.detached(), topic: topic, end: end)
        guard hasRoom(for: element) else { return false }
        elements.append(element)
        byteCount += element.byteCount
        return true
    }

    /// Keeps an unacknowledged message until `end`. Returns `false` if the message is already in this list, is being
    /// stored, has no ticket, or has an invalid topic. The limits do not apply to unacknowledged messages, because the
    /// reader's buffer has already limited their number.
    mutating func keepUnfinished(_ message: ReceivedMessage, until end: Instant) -> Bool {
        guard let ticket = message.ticket, let topic = try? TopicName(received: message.topic),
            !ticket.isBeingStored, tickets.insert(ObjectIdentifier(ticket)).inserted
        else { return false }
        elements.append(Element(message: message.detached(), topic: topic, end: end))
        return true
    }

    /// Removes and returns the messages that match `filter`, oldest first, each with its end time. If `filter` is
    /// `nil`, all messages match.
    mutating func take(_ filter: TopicFilter?) -> [(message: ReceivedMessage, end: Instant?)] {
        removeElements { filter?.matches($0.topic) ?? true }.map { ($0.message, $0.end) }
    }

    /// Removes and returns the acknowledged messages whose end time has passed.
    mutating func removeExpired(now: Instant) -> [ReceivedMessage] { remove { !$0.isUnfinished && $0.isOver(now) } }

    /// Removes and returns the messages that await their acknowledgement and whose end time has passed. The caller
    /// stores each message, and then calls ``storingEnded(_:)`` with it.
    mutating func takeUnfinished(now: Instant) -> [ReceivedMessage] {
        takeToStore { $0.isUnfinished && $0.isOver(now) }
    }

    /// Removes and returns the messages of a topic that await their acknowledgement. The caller stores each message,
    /// and then calls ``storingEnded(_:)`` with it.
    mutating func takeUnfinished(topic: String) -> [ReceivedMessage] {
        tickets.isEmpty ? [] : takeToStore { $0.isUnfinished && $0.message.topic == topic }
    }

    private mutating func takeToStore(where isTaken: (Element) -> Bool) -> [ReceivedMessage] {
        let taken = remove(where: isTaken)
        for message in taken { message.ticket?.isBeingStored = true }
        return taken
    }

    /// Records that a message was stored, or that the store refused it.
    func storingEnded(_ message: ReceivedMessage) { message.ticket?.isBeingStored = false }

    /// Puts unacknowledged messages back at the front of this list. Returns the messages that the list refused, for
    /// example because it already contains them.
    mutating func putBack(_ messages: [ReceivedMessage], until end: Instant) -> [ReceivedMessage] {
        let present = elements
        elements = []
        let refused = messages.filter { !keepUnfinished($0, until: end) }
        elements += present
        return refused
    }

    /// Handles each unacknowledged message whose end time has passed. If there is room, the message stays in the list
    /// as an acknowledged message without an end time. Otherwise, it stays unacknowledged, and gets the new end time
    /// `end`.
    ///
    /// - Returns: `finished` are the messages that the caller must acknowledge now, with their tickets. `areAll` is
    ///   `true` if there was room for all messages.
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

    /// The earliest end time of a message that awaits its acknowledgement; `nil` if there is none.
    var nextUnfinishedEnd: Instant? { elements.lazy.filter(\.isUnfinished).compactMap(\.end).min() }

    /// Removes unacknowledged QoS 1 messages after the connection ended, because the broker sends them again.
    ///
    /// Unacknowledged QoS 2 messages stay, because the session keeps their packet ids. They can be acknowledged on the
    /// next connection.
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
