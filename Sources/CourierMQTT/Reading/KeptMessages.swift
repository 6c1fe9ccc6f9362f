import CourierCore

/// Messages of QoS 1 and 2 that came while no reader wanted them, until one does or their time is over.
///
/// A value without locks and clocks.
struct KeptMessages {
    typealias Instant = ContinuousClock.Instant

    fileprivate struct Element {
        let message: ReceivedMessage
        let topic: TopicName
        /// When it is given up; `nil` for what is kept as long as its connection lasts.
        let end: Instant?
    }

    private let limit: Int
    private var elements: [Element] = []

    /// Keeps at most `limit` messages.
    init(limit: Int) { self.limit = max(limit, 0) }

    var count: Int { elements.count }

    /// Keeps a message until `end`; `false` when there is no room.
    mutating func keep(_ message: ReceivedMessage, until end: Instant?) -> Bool {
        guard elements.count < limit, let topic = try? TopicName(message.topic) else { return false }
        elements.append(Element(message: message.detached(), topic: topic, end: end))
        return true
    }

    /// Takes the messages that match `filter`, or all of them, in order.
    mutating func take(_ filter: TopicFilter?) -> [ReceivedMessage] {
        guard !elements.isEmpty else { return [] }
        guard let filter else {
            defer { elements = [] }
            return elements.map(\.message)
        }
        let taken = elements.filter { filter.matches($0.topic) }.map(\.message)
        if !taken.isEmpty { elements.removeAll { filter.matches($0.topic) } }
        return taken
    }

    /// Removes the messages whose time is over, and returns them.
    mutating func removeExpired(now: Instant) -> [ReceivedMessage] {
        let expired = elements.filter { $0.isOver(now) }.map(\.message)
        if !expired.isEmpty { elements.removeAll { $0.isOver(now) } }
        return expired
    }

    /// The connection has ended: what the broker was not told about will come again.
    mutating func connectionLost() { elements.removeAll { $0.message.ticket != nil } }

    mutating func removeAll() { elements = [] }
}

extension KeptMessages.Element {
    fileprivate func isOver(_ now: KeptMessages.Instant) -> Bool {
        guard let end else { return false }
        return end <= now
    }
}
