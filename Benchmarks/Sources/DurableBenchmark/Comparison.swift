import BenchmarkHarness
import Foundation

/// The results of all contenders with one number of callers.
struct Comparison {
    let callers: Int
    /// The medians over all rounds, for the contenders that did not fail.
    private(set) var medians: [Contender: DurableRun] = [:]
    /// The number of flushes per second that the disk reached before each round.
    private(set) var flushesPerSecond: [Double] = []
    /// Descriptions of the failed runs.
    private(set) var failures: [String] = []

    /// Measures every contender `rounds` times. The contenders take turns, so that changes of the disk's speed affect
    /// all of them alike.
    init(of contenders: [Contender], callers: Int, rounds: Int, in folder: URL) {
        self.callers = callers
        var counts: [Contender: Int] = [:]
        var runs: [Contender: [DurableRun]] = [:]
        for contender in contenders {
            counts[contender] = attempt { try Self.calibratedCount(contender, callers, folder) }
        }
        for _ in 0..<rounds {
            let flushes = attempt { try Disk.flushesPerSecond(in: folder) }
            if let flushes { flushesPerSecond.append(flushes) }
            for contender in contenders {
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

    /// Returns the number of messages that take about one second to be accepted and delivered.
    private static func calibratedCount(_ contender: Contender, _ callers: Int, _ folder: URL) throws -> Int {
        var count = max(200, callers)
        while true {
            let run = try DurableRun(inOwnProcess: contender, callers: callers, count: count, in: folder)
            if run.settledSeconds >= 0.15 { return max(callers, min(500_000, Int(run.settledPerSecond))) }
            count *= min(20, max(2, Int(0.25 / run.settledSeconds)))
        }
    }
}
