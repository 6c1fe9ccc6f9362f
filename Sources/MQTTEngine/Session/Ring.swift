/// A growing queue in a ring buffer. Elements must not contain references, because the ring does not clear removed
/// elements.
struct Ring<Element> {
    /// The elements. The length of the array is a power of two, so that a bit mask computes an index.
    private var storage: [Element] = []
    private var head = 0
    private(set) var count = 0

    mutating func append(_ element: Element) {
        if count == storage.count { grow(filling: element) }
        storage[(head &+ count) & (storage.count &- 1)] = element
        count &+= 1
    }

    mutating func popFirst() -> Element? {
        guard count > 0 else { return nil }
        let element = storage[head]
        head = (head &+ 1) & (storage.count &- 1)
        count &-= 1
        return element
    }

    private mutating func grow(filling element: Element) {
        var larger = [Element](repeating: element, count: max(16, storage.count * 2))
        for offset in 0..<count { larger[offset] = storage[(head &+ offset) & (storage.count &- 1)] }
        storage = larger
        head = 0
    }
}
