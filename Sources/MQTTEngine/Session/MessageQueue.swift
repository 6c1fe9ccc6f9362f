/// Messages in the order in which they came, taken from the front; a ring that grows.
struct MessageQueue {
    private var ring: [OutgoingMessage?] = []
    private var head = 0
    private(set) var count = 0

    var isEmpty: Bool { count == 0 }

    mutating func append(_ message: OutgoingMessage) {
        if count == ring.count { grow() }
        ring[(head + count) % ring.count] = message
        count += 1
    }

    mutating func popFirst() -> OutgoingMessage? {
        guard count > 0 else { return nil }
        defer {
            ring[head] = nil
            head = (head + 1) % ring.count
            count -= 1
        }
        return ring[head]
    }

    /// Takes all messages out, first to last.
    mutating func removeAll() -> [OutgoingMessage] {
        var all: [OutgoingMessage] = []
        while let message = popFirst() { all.append(message) }
        return all
    }

    private mutating func grow() {
        var larger: [OutgoingMessage?] = []
        larger.reserveCapacity(max(16, ring.count * 2))
        for offset in 0..<count { larger.append(ring[(head + offset) % ring.count]) }
        while larger.count < max(16, ring.count * 2) { larger.append(nil) }
        ring = larger
        head = 0
    }
}
