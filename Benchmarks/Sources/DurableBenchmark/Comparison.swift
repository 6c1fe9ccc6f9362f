import BenchmarkHarness
import Foundation

/// The contenders beside each other with so many callers.
struct Comparison {
    let callers: Int
    /// The median of each measure over all rounds, for the contenders that did not fail.
    private(set) var medians: [Contender: DurableRun] = [:]
    /// What the disk did before each round.
    private(set) var flushesPerSecond: [Double] = []
    /// What failed, one sentence each.
    private(set) var failures: [String] = []

    /// Measures every contender in turn, `rounds` times, so that a disk whose speed drifts treats all alike.
    init(callers: Int, rounds: Int, in folder: URL) {
        self.callers = callers
        var counts: [Contender: Int] = [:]
        var runs: [Contender: [DurableRun]] = [:]
        for contender in Contender.columns {
            counts[contender] = attempt { try Self.calibratedCount(contender, callers, folder) }
        }
        for _ in 0..<rounds {
            let flushes = attempt { try Disk.flushesPerSecond(in: folder) }
            if let flushes { flushesPerSecond.append(flushes) }
            for contender in Contender.columns {
                guard let count = counts[contender] else { continue }
                let run = attempt {
                    try DurableRun(inOwnProcess: contender, callers: callers, count: count, in: folder)
                }
                if let run { runs[contender, default: []].append(run) }
            }
        }
        medians = runs.mapValues(DurableRun.init(medianOf:))
    }

    private mutating func attempt<Value>(_ work: () throws -> Value) -> Value? {
        do {
            return try work()
        } catch {
            failures.append("\(error)")
            return nil
        }
    }

    /// How many messages take about a second until the last is delivered.
    private static func calibratedCount(_ contender: Contender, _ callers: Int, _ folder: URL) throws -> Int {
        var count = max(200, callers)
        while true {
            let run = try DurableRun(inOwnProcess: contender, callers: callers, count: count, in: folder)
            if run.settledSeconds >= 0.15 { return max(callers, min(500_000, Int(run.settledPerSecond))) }
            count *= min(20, max(2, Int(0.25 / run.settledSeconds)))
        }
    }
}
