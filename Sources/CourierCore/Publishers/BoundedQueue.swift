/// A first-in, first-out queue in a ring that grows up to a ``BufferPolicy``'s limit.
///
/// Nothing is destroyed inside: what is given up is returned, so that a caller can release it after its lock.
struct BoundedQueue<Element: Sendable>: Sendable {
    private var ring: [Element?] = []
    private var head = 0
    private(set) var count = 0

    private let limit: Int
    private let overflow: BufferPolicy.Overflow

    init(_ policy: BufferPolicy) {
        limit = policy.limit
        overflow = policy.overflow
    }

    var isEmpty: Bool { count == 0 }

    /// Adds an element, and returns the one that is given up for it, if any.
    mutating func append(_ element: Element) -> Element? {
        guard count >= limit else {
            appendBeyondLimit(element)
            return nil
        }
        switch overflow {
        case .dropNewest: return element
        case .dropOldest:
            let oldest = popFirst()
            appendBeyondLimit(element)
            return oldest
        }
    }

    /// Adds an element that must not be lost; the caller makes sure that there are few of them.
    mutating func appendBeyondLimit(_ element: Element) {
        if count == ring.count { grow() }
        ring[(head + count) % ring.count] = element
        count += 1
    }

    mutating func popFirst() -> Element? {
        guard count > 0 else { return nil }
        let element = ring[head].take()
        head = (head + 1) % ring.count
        count -= 1
        return element
    }

    private mutating func grow() {
        var larger: [Element?] = []
        larger.reserveCapacity(max(4, ring.count * 2))
        for offset in 0..<count { larger.append(ring[(head + offset) % ring.count]) }
        while larger.count < larger.capacity { larger.append(nil) }
        ring = larger
        head = 0
    }
}
