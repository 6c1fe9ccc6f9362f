/// Timers in the order of their deadlines; equal deadlines in the order of scheduling.
///
/// Scheduling and cancelling take O(log n). A token of a timer that has fired or was cancelled is harmless: its slot
/// carries a generation that has moved on.
struct TimerHeap<Payload>: ~Copyable {
    typealias Instant = ContinuousClock.Instant

    private struct Slot {
        var deadline: Instant
        /// The number of the timer in the order of scheduling.
        var sequence: UInt64
        /// Where the slot's index stands in `heap`; meaningless while `payload` is `nil`.
        var place: Int
        var generation: UInt32
        /// `nil` in a free slot.
        var payload: Payload?
    }

    /// Indices of slots; each is not later than the two at `2i + 1` and `2i + 2`.
    private var heap: [Int32] = []
    private var slots: [Slot] = []
    private var freeSlots: [Int32] = []
    private var nextSequence: UInt64 = 0

    init() {}

    var count: Int { heap.count }

    /// The earliest deadline, or `nil` without timers.
    var nextDeadline: Instant? { heap.first.map { slots[Int($0)].deadline } }

    /// Adds a timer.
    mutating func schedule(at deadline: Instant, _ payload: Payload) -> TimerToken {
        let index: Int32
        if let free = freeSlots.popLast() {
            index = free
        } else {
            index = Int32(slots.count)
            slots.append(Slot(deadline: deadline, sequence: 0, place: 0, generation: 0, payload: nil))
        }
        slots[Int(index)].deadline = deadline
        slots[Int(index)].sequence = nextSequence
        slots[Int(index)].payload = payload
        nextSequence += 1
        heap.append(index)
        slots[Int(index)].place = heap.count - 1
        moveUp(from: heap.count - 1)
        return TimerToken(slot: index, generation: slots[Int(index)].generation)
    }

    /// Takes a timer away; `nil` if it has fired or was cancelled before.
    @discardableResult
    mutating func cancel(_ token: TimerToken) -> Payload? {
        let index = Int(token.slot)
        guard index < slots.count, slots[index].generation == token.generation, slots[index].payload != nil else {
            return nil
        }
        return remove(at: slots[index].place)
    }

    /// Takes away the earliest timer that is due at `now`.
    mutating func popDue(now: Instant) -> Payload? {
        guard let deadline = nextDeadline, deadline <= now else { return nil }
        return remove(at: 0)
    }

    private mutating func remove(at place: Int) -> Payload? {
        let index = heap[place]
        let last = heap.removeLast()
        if place < heap.count {
            heap[place] = last
            slots[Int(last)].place = place
            moveDown(from: place)
            moveUp(from: slots[Int(last)].place)
        }
        let payload = slots[Int(index)].payload
        slots[Int(index)].payload = nil
        slots[Int(index)].generation &+= 1
        freeSlots.append(index)
        return payload
    }

    private func isEarlier(_ left: Int32, _ right: Int32) -> Bool {
        let (left, right) = (slots[Int(left)], slots[Int(right)])
        return left.deadline == right.deadline ? left.sequence < right.sequence : left.deadline < right.deadline
    }

    private mutating func moveUp(from start: Int) {
        var place = start
        while place > 0, isEarlier(heap[place], heap[(place - 1) / 2]) {
            exchange(place, (place - 1) / 2)
            place = (place - 1) / 2
        }
    }

    private mutating func moveDown(from start: Int) {
        var place = start
        while true {
            var earliest = place
            for child in (2 * place + 1)..<(2 * place + 3) where child < heap.count {
                if isEarlier(heap[child], heap[earliest]) { earliest = child }
            }
            if earliest == place { return }
            exchange(place, earliest)
            place = earliest
        }
    }

    private mutating func exchange(_ first: Int, _ second: Int) {
        heap.swapAt(first, second)
        slots[Int(heap[first])].place = first
        slots[Int(heap[second])].place = second
    }
}

/// Names one timer of one ``EventLoop``, to cancel it.
public struct TimerToken: Hashable, Sendable {
    let slot: Int32
    let generation: UInt32
}
