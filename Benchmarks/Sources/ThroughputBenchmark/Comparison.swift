/// The clients beside each other in one cell.
struct Comparison {
    let cell: Cell
    /// The median of each measure over all rounds, for the clients that are there and did not fail.
    private(set) var medians: [Contender: Run] = [:]
    /// How many times as many messages a second as the second contender the first reached, in each round in which both
    /// got through, the smallest first.
    private(set) var ratiosByRound: [Double] = []
    /// What failed, one sentence each.
    private(set) var failures: [String] = []

    /// Measures every client in turn, `rounds` times, so that a machine whose speed drifts treats all alike.
    init(_ cell: Cell, among contenders: [Contender], rounds: Int) {
        self.cell = cell
        first = contenders[0]
        var counts: [Contender: Int] = [:]
        var runs: [Contender: [Run]] = [:]
        for contender in contenders {
            attempt { counts[contender] = try Comparison.calibratedCount(contender, cell) }
        }
        for _ in 0..<rounds {
            var speeds: [Double] = []
            for contender in contenders {
                guard let count = counts[contender] else { continue }
                attempt {
                    let run = try Run(inOwnProcess: contender, cell, count: count)
                    runs[contender, default: []].append(run)
                    speeds.append(run.messagesPerSecond)
                }
            }
            if contenders.count > 1, speeds.count == contenders.count { ratiosByRound.append(speeds[0] / speeds[1]) }
        }
        ratiosByRound.sort()
        medians = runs.mapValues(Run.init(medianOf:))
    }

    /// Whose ratio is asked for.
    private let first: Contender

    /// How many times as many messages a second as `other` the first contender reaches.
    func ratio(to other: Contender) -> Double? { ratio(of: first, to: other) }

    /// How many times as many messages a second as `other` reaches `contender`.
    func ratio(of contender: Contender, to other: Contender) -> Double? {
        guard let ours = medians[contender], let theirs = medians[other] else { return nil }
        return ours.messagesPerSecond / theirs.messagesPerSecond
    }

    private mutating func attempt(_ work: () throws -> Void) {
        do { try work() } catch { failures.append("\(error)") }
    }

    /// How many messages take this client a good second.
    private static func calibratedCount(_ contender: Contender, _ cell: Cell) throws -> Int {
        var count = 2_000
        while true {
            let run = try Run(inOwnProcess: contender, cell, count: count)
            if run.wallSeconds >= 0.15 { return max(1, Int(run.messagesPerSecond * 1.2)) }
            count = Int(Double(count) * min(50, max(2, 0.25 / run.wallSeconds)))
        }
    }
}

extension Run {
    /// Takes the median of each measure; `runs` are of the same count and at least one.
    fileprivate init(medianOf runs: [Run]) {
        func median<Value: Comparable>(_ value: (Run) -> Value) -> Value { runs.map(value).sorted()[runs.count / 2] }
        count = runs[0].count
        wallSeconds = median(\.wallSeconds)
        cpuSeconds = median(\.cpuSeconds)
        peakGrowth = median(\.peakGrowth)
        heardShare = median(\.heardShare)
    }
}
