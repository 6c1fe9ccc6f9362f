import MQTTEngine

/// Jobs in the order of the times at which they are due: a binary heap.
struct DueTimes: Sendable {
    typealias Instant = MonotonicInstant

    private var heap: [(at: Instant, id: Int)] = []

    /// The earliest time; `nil` if there is no job.
    var first: Instant? { heap.first?.at }

    mutating func add(_ id: Int, at instant: Instant) {
        heap.append((instant, id))
        var child = heap.count - 1
        while child > 0, heap[child] < heap[(child - 1) / 2] {
            heap.swapAt(child, (child - 1) / 2)
            child = (child - 1) / 2
        }
    }

    /// Removes and returns the job with the earliest time, if that time is not after `now`.
    mutating func removeFirst(notAfter now: Instant) -> Int? {
        guard let first = heap.first, first.at <= now else { return nil }
        let last = heap.removeLast()
        guard !heap.isEmpty else { return first.id }
        heap[0] = last
        var parent = 0
        while true {
            var least = parent
            for child in [2 * parent + 1, 2 * parent + 2] where child < heap.count && heap[child] < heap[least] {
                least = child
            }
            guard least != parent else { return first.id }
            heap.swapAt(parent, least)
            parent = least
        }
    }
}
