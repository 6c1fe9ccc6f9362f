import BenchmarkHarness

/// Prints the tables row by row.
enum ThroughputTable {
    private static let nameWidth = 15

    static func printClientHead(_ columns: [PublicColumn], rounds: Int) {
        print("The public API beside libmosquitto, the same work, medians of \(rounds)")
        print("heard: the share of the events that reached the handler; the others were dropped")
        let name = TextColumn.padded("", nameWidth) + TextColumn.padded("", 6)
        print(name + columns.map { " | " + TextColumn.centred($0.title, width(of: $0)) }.joined())
        let titles = columns.map { column in
            " | " + TextColumn.right("messages/s", 11) + TextColumn.right("mosquitto", 10)
                + TextColumn.right("us CPU", 8) + (column == .handler ? TextColumn.right("heard", 7) : "")
                + TextColumn.right("ratio", 8) + TextColumn.padded("  budget", 13)
        }
        print(TextColumn.padded("", nameWidth) + TextColumn.padded("form", 6) + titles.joined())
    }

    private static func width(of column: PublicColumn) -> Int { column == .handler ? 57 : 50 }

    static func printClientRow(
        _ row: PublicRow, _ columns: [PublicColumn], _ comparison: Comparison, _ verdict: inout Verdict
    ) {
        func speed(_ contender: Contender) -> String {
            comparison.medians[contender].map { TextColumn.grouped(Int($0.messagesPerSecond.rounded())) } ?? "-"
        }
        let cells = columns.map { column in
            guard let budget = row.budgets[column] else { return " | " + TextColumn.padded("", width(of: column)) }
            let contender = column.contender(row.form)
            let run = comparison.medians[contender]
            let ratio = comparison.ratio(of: contender, to: column.peer)
            let isMet = ratio.map { $0 >= budget } ?? true
            verdict.require(
                isMet,
                "\(comparison.cell.name), \(row.form.rawValue), \(column.title): "
                    + "\(TextColumn.times(ratio)) is below \(Int(budget))x")
            let heard = run.map { "\(Int(($0.heardShare * 100).rounded()))%" } ?? "-"
            return " | " + TextColumn.right(speed(contender), 11) + TextColumn.right(speed(column.peer), 10)
                + TextColumn.right(run.map { TextColumn.fixed($0.cpuMicroseconds, decimals: 3) } ?? "-", 8)
                + (column == .handler ? TextColumn.right(heard, 7) : "")
                + TextColumn.right(TextColumn.times(ratio), 8)
                + TextColumn.padded(
                    TextColumn.right("\(Int(budget))x", 6) + (ratio == nil ? "" : isMet ? " met" : " MISSED"), 13)
        }
        print(
            TextColumn.padded(comparison.cell.name, nameWidth) + TextColumn.padded(row.form.rawValue, 6)
                + cells.joined())
    }

    static func printWaiting(_ perSecond: Double) {
        print(
            "the runtime's floor for `await`, 1,000 tasks that wait for a continuation and send nothing: "
                + "\(TextColumn.grouped(Int(perSecond.rounded())))/s")
    }

    static func printInspectorHead(rounds: Int) {
        print("\nThe public API with the packet inspector attached beside itself without, \(rounds) rounds in turn")
        print(
            TextColumn.padded("", nameWidth) + TextColumn.padded("form", 8) + TextColumn.right("off, msg/s", 13)
                + TextColumn.right("on, msg/s", 13) + TextColumn.right("off, us CPU", 13)
                + TextColumn.right("on, us CPU", 12) + " | on/off: median  lowest  highest  budget")
    }

    static func printInspectorRow(_ comparison: Comparison, _ form: PublicClient.Form, _ verdict: inout Verdict) {
        let contenders: [Contender] = [.client(form), .inspected(form)]
        let speeds = contenders.map { contender in
            comparison.medians[contender].map { TextColumn.grouped(Int($0.messagesPerSecond.rounded())) } ?? "-"
        }
        let costs = contenders.map { contender in
            comparison.medians[contender].map { TextColumn.fixed($0.cpuMicroseconds, decimals: 3) } ?? "-"
        }
        let ratios = comparison.ratiosByRound
        let spread = ratios.isEmpty ? [] : [ratios[ratios.count / 2], ratios[0], ratios[ratios.count - 1]]
        let budget = comparison.cell.budget
        let isMet = spread.first.map { $0 >= budget }
        verdict.require(
            isMet ?? true,
            "\(comparison.cell.name), \(form.rawValue), with the inspector: "
                + "\(TextColumn.fixed(spread.first ?? 0, decimals: 2))x is below \(budget)x")
        print(
            TextColumn.padded(comparison.cell.name, nameWidth) + TextColumn.padded(form.rawValue, 8)
                + TextColumn.right(speeds[0], 13) + TextColumn.right(speeds[1], 13)
                + TextColumn.right(costs[0], 13) + TextColumn.right(costs[1], 12) + " | "
                + zip(spread, [14, 8, 9]).map { TextColumn.right(TextColumn.fixed($0, decimals: 2), $1) }.joined()
                + TextColumn.right(TextColumn.fixed(budget, decimals: 2), 8)
                + (isMet.map { $0 ? " met" : " MISSED" } ?? ""))
    }
}
