/// The results of one policy in one scene.
struct Outcome: Sendable {
    /// Milliseconds from the broker's return until half of the clients, 95 %, and all were connected again; `nil` for
    /// never.
    var timeUntilHalf: Int?
    var timeUntil95: Int?
    var timeUntilAll: Int?
    /// The number of attempts that reached the broker's machine in each tenth of a second, starting with the loss.
    var arrivals: [Int] = []
    /// The number of failed attempts of all clients, while the broker was down and after its return.
    var wastedWhileDown = 0
    var wastedAfterwards = 0
    /// The number of seconds after the broker's return in which it turned away at least one attempt.
    var overloadSeconds = 0
    /// The index in `arrivals` of the tenth of a second in which the broker returned.
    var returnIndex = 0

    /// The number of attempts in each tenth of a second, from the broker's return until all clients were connected.
    private var recovery: ArraySlice<Int> {
        let end = timeUntilAll.map { returnIndex + $0 / 100 + 1 } ?? arrivals.count
        return arrivals[min(returnIndex, arrivals.count)..<min(end, arrivals.count)]
    }

    /// The largest number of attempts in a tenth of a second.
    var peak: Int { recovery.max() ?? 0 }

    /// The number of attempts that 99 of 100 tenths of a second do not exceed.
    var percentile99: Int {
        let sorted = recovery.sorted()
        return sorted.isEmpty ? 0 : sorted[min(sorted.count - 1, sorted.count * 99 / 100)]
    }
}
