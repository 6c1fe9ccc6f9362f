/// The queue of ``SubscriptionSet`` entries that need a SUBSCRIBE or UNSUBSCRIBE. The queue holds the *place* of each
/// entry, which is its index in the set's list of entries. Urgent entries come before all other entries. Within each of
/// these two groups, entries keep their order.
struct SlotQueue: Sendable {
    private var urgent = FirstInFirstOut<Int>()
    private var usual = FirstInFirstOut<Int>()

    /// The index of the next entry in the set's list; `nil` if the queue is empty.
    var first: Int? { urgent.first ?? usual.first }

    /// Adds an entry at the end of the queue, or directly after the last urgent entry if `isUrgent` is true.
    mutating func append(_ place: Int, isUrgent: Bool) {
        if isUrgent { urgent.append(place) } else { usual.append(place) }
    }

    /// Removes the entry that ``first`` returns.
    mutating func removeFirst() {
        if urgent.removeFirst() == nil { _ = usual.removeFirst() }
    }

    /// Removes all entries, and returns their indices in the set's list, in the order of the queue.
    mutating func removeAll() -> [Int] {
        defer { self = SlotQueue() }
        return urgent.waiting + usual.waiting
    }
}
