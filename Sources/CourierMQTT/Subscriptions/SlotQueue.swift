/// The entries of a ``SubscriptionSet`` that must be checked: urgent entries first, then the others, each in the order of their
/// arrival.
struct SlotQueue: Sendable {
    private var urgent = Line()
    private var usual = Line()

    /// The next one.
    var first: Int? { urgent.first ?? usual.first }

    /// Adds an entry at the end, or behind the urgent ones.
    mutating func append(_ place: Int, isUrgent: Bool) {
        if isUrgent { urgent.places.append(place) } else { usual.places.append(place) }
    }

    /// Takes out what ``first`` is.
    mutating func removeFirst() {
        if urgent.first != nil { urgent.removeFirst() } else { usual.removeFirst() }
    }

    /// Takes everything out, in order.
    mutating func removeAll() -> [Int] {
        let all = urgent.places[urgent.start...] + usual.places[usual.start...]
        self = SlotQueue()
        return Array(all)
    }

    /// Places in their order, which are taken from `start` on.
    private struct Line: Sendable {
        var places: [Int] = []
        var start = 0

        var first: Int? { start < places.count ? places[start] : nil }

        mutating func removeFirst() {
            guard start < places.count else { return }
            start += 1
            if start * 2 > places.count {
                places.removeFirst(start)
                start = 0
            }
        }
    }
}
