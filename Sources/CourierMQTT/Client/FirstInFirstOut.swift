/// A queue of elements. The first element that was added is the first that is removed.
struct FirstInFirstOut<Element> {
    private var elements: [Element?] = []
    private var start = 0

    /// The next element; `nil` if the queue is empty.
    var first: Element? { start < elements.count ? elements[start] : nil }

    var count: Int { elements.count - start }

    /// The elements in the order in which they are removed.
    var waiting: [Element] { elements[start...].compactMap { $0 } }

    mutating func append(_ element: Element) { elements.append(element) }

    /// Removes all elements for which `isRemoved` returns `true`.
    mutating func removeAll(where isRemoved: (Element) -> Bool) {
        elements = elements[start...].filter { element in element.map { !isRemoved($0) } ?? false }
        start = 0
    }

    /// Removes and returns the next element; `nil` if the queue is empty.
    mutating func removeFirst() -> Element? {
        guard start < elements.count else { return nil }
        defer {
            start += 1
            if start == elements.count {
                elements.removeAll(keepingCapacity: start < 1_024)
                start = 0
            } else if start > 1_024, start * 2 > elements.count {
                elements.removeFirst(start)
                start = 0
            }
        }
        return exchange(&elements[start], with: nil)
    }
}

extension FirstInFirstOut: Sendable where Element: Sendable {}
