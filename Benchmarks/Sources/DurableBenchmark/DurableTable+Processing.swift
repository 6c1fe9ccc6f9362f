import BenchmarkHarness

/// Prints the table of processors.
extension DurableTable {
    /// The number of handlers that may run at the same time, and of concurrent callers of the store alone.
    static let concurrency = 16
    /// The required ratio of a processor's settled messages per second to those of the contender beside it.
    private static let goal = 0.5

    static func printProcessing(_ comparison: Comparison, rounds: Int, kind: String) {
        print(
            """

            64-byte payloads of one topic, QoS 1, \(concurrency) handlers or callers, medians of \(rounds), alternating, \
            on \(kind)
            """)
        print(
            TextColumn.padded("messages/s", 34) + TextColumn.right("handled", 10) + TextColumn.right("settled", 10)
                + TextColumn.right("CPU us", 8) + TextColumn.right("ratio", 8) + TextColumn.right("goal", 13))
        for (contender, beside) in Contender.processing {
            let run = comparison.medians[contender]
            let columns =
                rate(run?.acceptedPerSecond) + rate(run?.settledPerSecond)
                + TextColumn.right(run.map { TextColumn.fixed($0.cpuMicroseconds, decimals: 1) } ?? "-", 8)
            print(
                TextColumn.padded(title(contender), 34) + columns
                    + verdict(run, beside.flatMap { comparison.medians[$0] }))
        }
    }

    private static func title(_ contender: Contender) -> String {
        switch contender {
        case .loop: "loop, .afterProcessing"
        case .processor(let keeping?, let order): "  process, .\(order), \(keeping) store"
        case .processor(nil, let order): "  process, .\(order)"
        case .jobs(let keeping): "the \(keeping) store alone"
        case .client, .store, .paho: contender.name
        }
    }

    private static func rate(_ value: Double?) -> String {
        TextColumn.right(value.map { TextColumn.grouped(Int($0.rounded())) } ?? "-", 10)
    }

    private static func verdict(_ run: DurableRun?, _ beside: DurableRun?) -> String {
        guard let run, let beside else { return "" }
        let ratio = run.settledPerSecond / beside.settledPerSecond
        return TextColumn.right(TextColumn.fixed(ratio, decimals: 2) + "x", 8)
            + TextColumn.right(TextColumn.fixed(goal, decimals: 1) + "x" + (ratio >= goal ? " met" : " MISSED"), 13)
    }
}
