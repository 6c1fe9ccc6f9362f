/// What one policy did in one scene.
struct Outcome: Sendable {
    /// Milliseconds from the broker's return until so many of a hundred clients were back; `nil` for never.
    var timeUntilHalf: Int?
    var timeUntil95: Int?
    var timeUntilAll: Int?
    /// How many attempts reached the broker's machine in each tenth of a second, from the loss on.
    var arrivals: [Int] = []
    /// Attempts that came to nothing, of all clients, while nobody listened and afterwards.
    var wastedWhileDown = 0
    var wastedAfterwards = 0
    /// Seconds in which the broker turned somebody away after its return.
    var overloadSeconds = 0
    /// In which tenth of a second the broker came back.
    var returnIndex = 0

    /// Attempts in a tenth of a second, from the broker's return until everybody was back.
    private var recovery: ArraySlice<Int> {
        let end = timeUntilAll.map { returnIndex + $0 / 100 + 1 } ?? arrivals.count
        return arrivals[min(returnIndex, arrivals.count)..<min(end, arrivals.count)]
    }

    /// The most attempts in a tenth of a second.
    var peak: Int { recovery.max() ?? 0 }

    /// What 99 of 100 tenths of a second do not exceed.
    var percentile99: Int {
        let sorted = recovery.sorted()
        return sorted.isEmpty ? 0 : sorted[min(sorted.count - 1, sorted.count * 99 / 100)]
    }
}
