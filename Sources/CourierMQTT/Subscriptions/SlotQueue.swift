/// The queue of ``SubscriptionSet`` entries that need a SUBSCRIBE or UNSUBSCRIBE. The queue holds the *place* of each
/// entry, which is its index in the set's list of entries. Urgent entries come before all other entries. Urgent entries
/// keep their order among each other, and so do all other entries.
struct SlotQueue: Sendable {
    private var urgent = Line()
    private var usual = Line()

    /// The index of the next entry in the set's list; `nil` if the queue is empty.
    var first: Int? { urgent.first ?? usual.first }

    /// Adds an entry at the end of the queue, or directly after the last urgent entry if `isUrgent` is true.
    mutating func append(_ place: Int, isUrgent: Bool) {
        if isUrgent { urgent.places.append(place) } else { usual.places.append(place) }
    }

    /// Removes the entry that ``first`` returns.
    mutating func removeFirst() {
        if urgent.first != nil { urgent.removeFirst() } else { usual.removeFirst() }
    }

    /// Removes all entries, and returns their indices in the set's list, in the order of the queue.
    mutating func removeAll() -> [Int] {
        let all = urgent.places[urgent.start...] + usual.places[usual.start...]
        self = SlotQueue()
        return Array(all)
    }

    /// A first-in, first-out queue of entry indices. The elements of `places` before the index `start` were already
    /// removed.
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
