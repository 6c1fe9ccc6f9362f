/// Decides when a bench run begins each connection attempt.
struct AttemptSchedule: Hashable, Sendable {
    /// The maximum number of attempts that run at the same time. It is limited, because more attempts could exceed the
    /// broker's queue of unaccepted connections, which has 100 places in mosquitto.
    static let limit = 64

    /// The number of all attempts.
    let count: Int
    /// The time over which the attempts are spread evenly.
    let rampUp: Duration
    /// The number of attempts that have begun.
    private(set) var begunCount = 0
    /// The number of attempts that have succeeded or failed.
    private(set) var endedCount = 0
    private var succeededCount = 0

    init(count: Int, rampUp: Duration) {
        self.count = count
        self.rampUp = rampUp
    }

    /// True if every attempt has ended, or if all of the first attempts have failed.
    var isDone: Bool { endedCount == begunCount && (begunCount == count || isHopeless) }

    /// True if the first attempts, up to ``limit``, have all failed. Further attempts would fail, too, so they are not
    /// made.
    private var isHopeless: Bool { succeededCount == 0 && endedCount >= min(count, Self.limit) }

    /// Returns the index of the next attempt, and counts this attempt as begun. Returns `nil` if no attempt is due now.
    ///
    /// - Parameter elapsed: The time since the first attempt was possible.
    /// - Returns: The index.
    mutating func next(after elapsed: Duration) -> Int? {
        // The first attempt runs alone, so that with TLS, the other attempts can use the certificates that the first
        // attempt has loaded.
        let limit = endedCount == 0 ? 1 : Self.limit
        guard begunCount < due(after: elapsed), begunCount - endedCount < limit, !isHopeless else { return nil }
        defer { begunCount += 1 }
        return begunCount
    }

    /// Records that an attempt has ended.
    mutating func ended(isSuccess: Bool) {
        endedCount += 1
        if isSuccess { succeededCount += 1 }
    }

    private func due(after elapsed: Duration) -> Int {
        rampUp > .zero ? min(count, Int(elapsed / rampUp * Double(count)) + 1) : count
    }
}
