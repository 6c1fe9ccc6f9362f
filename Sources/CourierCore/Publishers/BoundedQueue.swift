/// A first-in, first-out queue in a ring that grows up to a ``BufferPolicy``'s limits.
///
/// Nothing is destroyed inside: what is given up is returned, so that a caller can release it after its lock.
struct BoundedQueue<Element: Sendable>: Sendable {
    private var ring: [Element?] = []
    private var head = 0
    private(set) var count = 0

    private var byteCount = 0

    private let limit: Int
    private let byteLimit: Int
    private let overflow: BufferPolicy.Overflow
    private let measure: (@Sendable (Element) -> Int)?

    /// A queue whose elements count as many bytes as `measure` says.
    init(_ policy: BufferPolicy, measure: (@Sendable (Element) -> Int)?) {
        limit = policy.limit
        byteLimit = policy.byteLimit
        overflow = policy.overflow
        self.measure = measure
    }

    var isEmpty: Bool { count == 0 }

    /// Adds an element, and returns those that are given up for it: the oldest ones, or the element itself.
    mutating func append(_ element: Element) -> [Element] {
        var dropped: [Element] = []
        while !hasRoom(for: element) {
            guard overflow == .dropOldest, let oldest = popFirst() else { return [element] }
            dropped.append(oldest)
        }
        appendBeyondLimit(element)
        return dropped
    }

    private func hasRoom(for element: Element) -> Bool {
        if count >= limit { return false }
        guard let measure, count > 0 else { return true }
        return byteCount + measure(element) <= byteLimit
    }

    /// Adds an element that must not be lost; the caller makes sure that there are few of them.
    mutating func appendBeyondLimit(_ element: Element) {
        if count == ring.count { grow() }
        ring[(head + count) % ring.count] = element
        count += 1
        if let measure { byteCount += measure(element) }
    }

    mutating func popFirst() -> Element? {
        guard count > 0 else { return nil }
        let element = ring[head].take()
        head = (head + 1) % ring.count
        count -= 1
        if let measure, let element { byteCount -= measure(element) }
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
