import BenchmarkHarness
import Foundation

/// Prints the tables row by row.
enum DurableTable {
    /// The required number of accepted messages per second with `.full` durability, by the number of callers.
    private static let budgets = [1: 4_000, 10: 30_000, 1_000: 150_000]
    /// With 1,000 callers, Courier must also accept this many times as many messages per second as Paho C.
    private static let ratioBudget = 5.0
    private static let widths = [11, 10, 11, 11, 10, 11, 9]
    private static let nameWidth = 17

    static func printHead(rounds: Int, kind: String) {
        print("64-byte payloads, QoS 1, medians of \(rounds), alternating, on \(kind); Paho C: a file each, no fsync")
        let titles = zip(Keeping.allCases.map { ".\($0)" } + Keeping.allCases.map { ".\($0)" } + [""], widths)
            .map { TextColumn.right($0, $1) }.joined()
        print(
            TextColumn.padded("messages/s", nameWidth) + TextColumn.centred("await client.enqueue", 32)
                + TextColumn.centred("the store alone", 32) + TextColumn.right("Paho C", 9)
                + " | .full over        budget    8 KiB fdatasync/s")
        print(
            TextColumn.padded("callers", nameWidth) + titles
                + " |  store   Paho                         min    median       max")
    }

    static func printRows(_ comparison: Comparison, _ verdict: inout Verdict) {
        let name = TextColumn.grouped(comparison.callers)
        let full = comparison.medians[.client(.full)]?.acceptedPerSecond
        let ratios =
            ratio(full, comparison.medians[.store(.full)]?.acceptedPerSecond)
            + ratio(full, comparison.medians[.paho]?.acceptedPerSecond)
        print(
            TextColumn.padded(name + ", accepted", nameWidth) + columns(comparison, \.acceptedPerSecond) + " |" + ratios
                + TextColumn.right(words(of: comparison, &verdict), 18) + flushes(comparison))
        let settled = comparison.medians[.client(.full)]?.settledPerSecond
        let settledRatios =
            ratio(settled, comparison.medians[.store(.full)]?.settledPerSecond)
            + ratio(settled, comparison.medians[.paho]?.settledPerSecond)
        print(
            TextColumn.padded("  and delivered", nameWidth) + columns(comparison, \.settledPerSecond) + " |"
                + settledRatios)
        print(
            TextColumn.padded("  CPU us/message", nameWidth)
                + columns(comparison, \.cpuMicroseconds) { TextColumn.fixed($0, decimals: 1) } + " |"
                + ratio(
                    comparison.medians[.client(.full)]?.cpuMicroseconds,
                    comparison.medians[.store(.full)]?.cpuMicroseconds)
                + ratio(
                    comparison.medians[.client(.full)]?.cpuMicroseconds, comparison.medians[.paho]?.cpuMicroseconds))
    }

    static func printStartHead(rounds: Int) {
        print("\nseconds to go on with what another process left, medians of \(rounds), files in the page cache")
        print(
            TextColumn.padded("", 10) + TextColumn.right("messages", 10) + TextColumn.right("ready", 10)
                + TextColumn.right("connected", 12))
    }

    static func printStart(_ start: StartUpCase, _ result: StartUp) {
        print(
            TextColumn.padded(start.library == .courier ? "Courier" : "Paho C", 10)
                + TextColumn.right(TextColumn.grouped(start.rows), 10)
                + TextColumn.right(TextColumn.fixed(result.readySeconds, decimals: 4), 10)
                + TextColumn.right(TextColumn.fixed(result.connectedSeconds, decimals: 4), 12))
    }

    /// Returns the budget and whether it is met, and notes a missed budget in `verdict`.
    private static func words(of comparison: Comparison, _ verdict: inout Verdict) -> String {
        guard let budget = budgets[comparison.callers], let full = comparison.medians[.client(.full)] else { return "" }
        var isMet = full.acceptedPerSecond >= Double(budget)
        if comparison.callers == 1_000, let paho = comparison.medians[.paho] {
            isMet = isMet && full.acceptedPerSecond >= ratioBudget * paho.acceptedPerSecond
        }
        verdict.require(
            isMet,
            "\(TextColumn.grouped(comparison.callers)) callers: \(TextColumn.grouped(Int(full.acceptedPerSecond))) "
                + "messages/s are below \(TextColumn.grouped(budget)) or below \(Int(ratioBudget)) times Paho C")
        return TextColumn.grouped(budget) + (isMet ? " met" : " MISSED")
    }

    private static func columns(
        _ comparison: Comparison, _ value: (DurableRun) -> Double,
        _ write: (Double) -> String = { TextColumn.grouped(Int($0.rounded())) }
    ) -> String {
        zip(Contender.columns, widths)
            .map { contender, width in
                let text = comparison.medians[contender].map { write(value($0)) }
                return TextColumn.right(text ?? "-", width)
            }
            .joined()
    }

    private static func ratio(_ ours: Double?, _ theirs: Double?) -> String {
        guard let ours, let theirs else { return TextColumn.right("-", 7) }
        let decimals = ours / theirs < 10 ? 2 : 0
        return TextColumn.right(TextColumn.fixed(ours / theirs, decimals: decimals) + "x", 7)
    }

    private static func flushes(_ comparison: Comparison) -> String {
        let rates = comparison.flushesPerSecond.sorted()
        guard let least = rates.first, let most = rates.last else { return "" }
        return [least, rates[rates.count / 2], most]
            .map { TextColumn.right(TextColumn.grouped(Int($0)), 10) }.joined()
    }
}
