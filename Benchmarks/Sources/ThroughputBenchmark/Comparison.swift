/// The results of all clients in one cell.
struct Comparison {
    let cell: Cell
    /// The medians over all rounds, for the clients that did not fail.
    private(set) var medians: [Contender: Run] = [:]
    /// The ratio of the first contender's messages per second to the second's, for each round in which no contender
    /// failed. The smallest ratio is first.
    private(set) var ratiosByRound: [Double] = []
    /// Descriptions of the failed runs.
    private(set) var failures: [String] = []

    /// Measures every client `rounds` times. The clients take turns, so that changes of the machine's speed affect all
    /// of them alike.
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

    /// The contender that ``ratio(to:)`` compares with others.
    private let first: Contender

    /// Returns the first contender's messages per second divided by those of `other`.
    func ratio(to other: Contender) -> Double? { ratio(of: first, to: other) }

    /// Returns the messages per second of `contender` divided by those of `other`.
    func ratio(of contender: Contender, to other: Contender) -> Double? {
        guard let ours = medians[contender], let theirs = medians[other] else { return nil }
        return ours.messagesPerSecond / theirs.messagesPerSecond
    }

    private mutating func attempt(_ work: () throws -> Void) {
        do { try work() } catch { failures.append("\(error)") }
    }

    /// Returns the number of messages that take this client slightly more than one second.
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
    /// Creates a result from the median of each measured value. `runs` must not be empty, and all must have the same
    /// count.
    fileprivate init(medianOf runs: [Run]) {
        func median<Value: Comparable>(_ value: (Run) -> Value) -> Value { runs.map(value).sorted()[runs.count / 2] }
        count = runs[0].count
        wallSeconds = median(\.wallSeconds)
        cpuSeconds = median(\.cpuSeconds)
        peakGrowth = median(\.peakGrowth)
        heardShare = median(\.heardShare)
    }
}
