/// A queue in one contiguous block of memory. It grows as needed and frees memory only in `removeAll()`.
struct FlatRing<Element> {
    private var places: [Element?] = []
    private var head = 0
    private(set) var count = 0

    /// The element at `index`, counted from the oldest.
    subscript(index: Int) -> Element {
        @inline(__always) get {
            precondition(index >= 0 && index < count, "index \(index) is outside \(count) elements")
            guard let element = places[place(index)] else {
                preconditionFailure("a used place of the ring has no element")
            }
            return element
        }
    }

    /// The oldest element.
    var first: Element? { count == 0 ? nil : self[0] }

    /// Adds an element, which becomes the newest element.
    @inline(__always)
    mutating func append(_ element: Element) {
        if count == places.count { grow() }
        places[place(count)] = element
        count &+= 1
    }

    /// Removes and returns the oldest element.
    @inline(__always)
    @discardableResult
    mutating func removeFirst() -> Element? {
        guard count > 0 else { return nil }
        let element = places[head]
        places[head] = nil
        head = (head &+ 1) & (places.count &- 1)
        count &-= 1
        return element
    }

    /// Removes the oldest elements while the condition is true.
    @inline(__always)
    mutating func removeFirst(while isUnwanted: (Element) -> Bool) {
        while count > 0, let element = places[head], isUnwanted(element) {
            places[head] = nil
            head = (head &+ 1) & (places.count &- 1)
            count &-= 1
        }
    }

    /// Removes and returns the newest element.
    mutating func removeLast() -> Element? {
        guard count > 0 else { return nil }
        count -= 1
        return exchange(&places[place(count)], with: nil)
    }

    /// Removes all elements and frees the memory.
    mutating func removeAll() { self = FlatRing() }

    /// Returns the index of the oldest element for which `isBehind` is true, or `count` if there is no such element. If
    /// `isBehind` is true for an element, it must be true for all newer elements.
    func firstIndex(where isBehind: (Element) -> Bool) -> Int {
        var low = 0
        var high = count
        while low < high {
            let middle = (low + high) / 2
            if isBehind(self[middle]) { high = middle } else { low = middle + 1 }
        }
        return low
    }

    @inline(__always)
    private func place(_ index: Int) -> Int { (head &+ index) & (places.count &- 1) }

    /// Doubles the capacity. The capacity is always a power of two, so that a bit mask computes the position of an
    /// element.
    private mutating func grow() {
        let capacity = max(16, places.count * 2)
        var larger: [Element?] = []
        larger.reserveCapacity(capacity)
        for index in 0..<count { larger.append(places[place(index)]) }
        larger.append(contentsOf: repeatElement(nil, count: capacity - count))
        places = larger
        head = 0
    }
}
