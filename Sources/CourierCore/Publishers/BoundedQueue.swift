/// A first-in, first-out queue in a ring buffer, which grows up to the limits of a ``BufferPolicy``.
///
/// Dropped elements are returned, so that the caller can release them after it has released its lock.
struct BoundedQueue<Element: Sendable>: Sendable {
    private var ring: [Element?] = []
    private var head = 0
    private(set) var count = 0

    private var byteCount = 0

    private let limit: Int
    private let byteLimit: Int
    private let overflow: BufferPolicy.Overflow
    private let measure: (@Sendable (Element) -> Int)?

    /// Makes an empty queue. `measure` returns the size of an element in bytes. If `measure` is `nil`, there is no byte
    /// limit.
    init(_ policy: BufferPolicy, measure: (@Sendable (Element) -> Int)?) {
        limit = policy.limit
        byteLimit = policy.byteLimit
        overflow = policy.overflow
        self.measure = measure
    }

    var isEmpty: Bool { count == 0 }

    /// Adds an element. If there is no room, drops the oldest elements or the new element, and returns the dropped
    /// elements.
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

    /// Adds an element even if the queue is full. The caller must use this method only for a few elements.
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
