/// A queue in one piece of memory that grows and never shrinks until it is emptied.
struct FlatRing<Element> {
    private var places: [Element?] = []
    private var head = 0
    private(set) var count = 0

    /// The element at `index`, counted from the oldest.
    subscript(index: Int) -> Element {
        @inline(__always) get {
            precondition(index >= 0 && index < count, "no element \(index) of \(count)")
            guard let element = places[place(index)] else { preconditionFailure("a place in use is empty") }
            return element
        }
    }

    /// The oldest element.
    var first: Element? { count == 0 ? nil : self[0] }

    /// Adds an element behind all others.
    @inline(__always)
    mutating func append(_ element: Element) {
        if count == places.count { grow() }
        places[place(count)] = element
        count &+= 1
    }

    /// Takes the oldest element away.
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

    /// Takes the oldest elements away as long as the condition holds.
    @inline(__always)
    mutating func removeFirst(while isUnwanted: (Element) -> Bool) {
        while count > 0, let element = places[head], isUnwanted(element) {
            places[head] = nil
            head = (head &+ 1) & (places.count &- 1)
            count &-= 1
        }
    }

    /// Takes the newest element away.
    mutating func removeLast() -> Element? {
        guard count > 0 else { return nil }
        count -= 1
        return exchange(&places[place(count)], with: nil)
    }

    /// Takes all elements and the memory away.
    mutating func removeAll() { self = FlatRing() }

    /// The first index, counted from the oldest, at which `isBehind` holds; it must hold for all behind that one.
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

    /// The capacity is a power of two, so that a place is found by masking.
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
