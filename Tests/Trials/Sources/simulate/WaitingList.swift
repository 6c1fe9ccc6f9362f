/// The QoS 1 and 2 messages that the client has not handed to the engine yet, or that the engine returned. It is a
/// simple queue that keeps their order.
struct WaitingList {
    /// The numbers of the messages, in ascending order.
    private var serials: [Int] = []

    var count: Int { serials.count }
    var isEmpty: Bool { serials.isEmpty }
    var first: Int? { serials.first }

    mutating func append(_ serial: Int) { serials.append(serial) }

    mutating func removeFirst() -> Int { serials.removeFirst() }

    /// Puts messages that the engine returned at the front. They were published in the order of their numbers, so the
    /// engine must return them in that order.
    mutating func putBack(_ returned: [Int]) throws(Broken) {
        let all = returned + serials
        for (serial, next) in zip(all, all.dropFirst()) where serial >= next {
            throw Broken("the engine returned message \(serial) before \(next)")
        }
        serials = all
    }
}
