/// A heap of timers, ordered by deadline. Timers with equal deadlines keep the order of scheduling.
///
/// Scheduling and cancelling take O(log n). The token of a timer that has fired or was cancelled has no effect, because
/// its slot has a new generation by then.
struct TimerHeap<Payload>: ~Copyable {
    typealias Instant = ContinuousClock.Instant

    private struct Slot {
        var deadline: Instant
        /// The timer's number in the order of scheduling.
        var sequence: UInt64
        /// The position in `heap` that holds the index of this slot. It is meaningless while `payload` is `nil`.
        var place: Int
        var generation: UInt32
        /// The timer's payload; `nil` in a free slot.
        var payload: Payload?
    }

    /// A binary heap of slot indices: the timer at `i` is not later than the timers at `2i + 1` and `2i + 2`.
    private var heap: [Int32] = []
    private var slots: [Slot] = []
    private var freeSlots: [Int32] = []
    private var nextSequence: UInt64 = 0

    init() {}

    var count: Int { heap.count }

    /// The earliest deadline; `nil` without timers.
    var nextDeadline: Instant? { heap.first.map { slots[Int($0)].deadline } }

    /// Adds a timer and returns the token that cancels it.
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

    /// Removes a timer and returns its payload; `nil` if the timer has fired or was already cancelled.
    @discardableResult
    mutating func cancel(_ token: TimerToken) -> Payload? {
        let index = Int(token.slot)
        guard index < slots.count, slots[index].generation == token.generation, slots[index].payload != nil else {
            return nil
        }
        return remove(at: slots[index].place)
    }

    /// Removes the earliest timer if it is due at `now`, and returns its payload.
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

/// Identifies one timer of one ``EventLoop``, so that the timer can be cancelled.
public struct TimerToken: Hashable, Sendable {
    let slot: Int32
    let generation: UInt32
}
