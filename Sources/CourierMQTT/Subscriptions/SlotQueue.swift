/// The queue of ``SubscriptionSet`` entries that need a request. It contains the places of the entries. Urgent entries
/// come before the other entries, and each group keeps the order in which its entries were added.
struct SlotQueue: Sendable {
    private var urgent = Line()
    private var usual = Line()

    /// The place of the next entry; `nil` if the queue is empty.
    var first: Int? { urgent.first ?? usual.first }

    /// Adds an entry after all entries, or after the urgent entries if `isUrgent` is true.
    mutating func append(_ place: Int, isUrgent: Bool) {
        if isUrgent { urgent.places.append(place) } else { usual.places.append(place) }
    }

    /// Removes the entry that ``first`` returns.
    mutating func removeFirst() {
        if urgent.first != nil { urgent.removeFirst() } else { usual.removeFirst() }
    }

    /// Removes all entries, and returns their places in order.
    mutating func removeAll() -> [Int] {
        let all = urgent.places[urgent.start...] + usual.places[usual.start...]
        self = SlotQueue()
        return Array(all)
    }

    /// A queue of places. The places before `start` were already removed.
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
