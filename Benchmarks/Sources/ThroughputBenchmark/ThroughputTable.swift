import BenchmarkHarness

/// Prints the table row by row.
enum ThroughputTable {
    private static let nameWidth = 15
    private static let widths = [12, 11, 10, 12]

    static func printHead(rounds: Int) {
        print("64-byte payloads, MQTT 3.1.1, 1,000 in flight, medians of \(rounds); socket: without a library")
        let groups = ["messages/s", "CPU us/message", "peak memory, MiB"].map { title in
            TextColumn.centred(title, widths.reduce(0, +))
        }
        print(TextColumn.padded("", nameWidth) + groups.joined() + " | messages/s, Courier over")
        let titles = zip(Contender.columns, widths).map { TextColumn.right($0.title, $1) }.joined()
        print(TextColumn.padded("", nameWidth) + titles + titles + titles + " | mosquitto  Paho C  budget")
    }

    static func printRow(_ comparison: Comparison) {
        let numbers =
            columns(comparison) { TextColumn.grouped(Int($0.messagesPerSecond.rounded())) }
            + columns(comparison) { TextColumn.fixed($0.cpuMicroseconds, decimals: $0.cpuMicroseconds < 1 ? 3 : 1) }
            + columns(comparison) { TextColumn.fixed(Double($0.peakGrowth) / 1_048_576, decimals: 1) }
        let ratios =
            TextColumn.right(TextColumn.times(comparison.ratio(to: .mosquitto)), 9)
            + TextColumn.right(TextColumn.times(comparison.ratio(to: .paho)), 8)
            + TextColumn.right("\(Int(comparison.cell.budget))x", 8)
        print(TextColumn.padded(comparison.cell.name, nameWidth) + numbers + " | " + ratios + verdict(comparison))
    }

    static func printClientHead(rounds: Int) {
        print("\nThe public API beside libmosquitto, the same work, medians of \(rounds)")
        print(
            TextColumn.padded("", nameWidth) + TextColumn.padded("form", 8) + TextColumn.right("messages/s", 13)
                + TextColumn.right("mosquitto", 13)
                + TextColumn.right("CPU us/msg", 12) + " | over mosquitto  budget")
    }

    static func printClientRow(_ comparison: Comparison, _ form: PublicClient.Form) {
        func speed(_ contender: Contender) -> String {
            comparison.medians[contender].map { TextColumn.grouped(Int($0.messagesPerSecond.rounded())) } ?? "-"
        }
        let cpu = comparison.medians[.client(form)].map { TextColumn.fixed($0.cpuMicroseconds, decimals: 3) } ?? "-"
        print(
            TextColumn.padded(comparison.cell.name, nameWidth) + TextColumn.padded(form.rawValue, 8)
                + TextColumn.right(speed(.client(form)), 13)
                + TextColumn.right(speed(.mosquitto), 13) + TextColumn.right(cpu, 12) + " | "
                + TextColumn.right(TextColumn.times(comparison.ratio(to: .mosquitto)), 14)
                + TextColumn.right("\(Int(comparison.cell.budget))x", 8) + verdict(comparison))
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

    static func printInspectorRow(_ comparison: Comparison, _ form: PublicClient.Form) {
        let contenders: [Contender] = [.client(form), .inspected(form)]
        let speeds = contenders.map { contender in
            comparison.medians[contender].map { TextColumn.grouped(Int($0.messagesPerSecond.rounded())) } ?? "-"
        }
        let costs = contenders.map { contender in
            comparison.medians[contender].map { TextColumn.fixed($0.cpuMicroseconds, decimals: 3) } ?? "-"
        }
        let ratios = comparison.ratiosByRound
        let spread = ratios.isEmpty ? [] : [ratios[ratios.count / 2], ratios[0], ratios[ratios.count - 1]]
        print(
            TextColumn.padded(comparison.cell.name, nameWidth) + TextColumn.padded(form.rawValue, 8)
                + TextColumn.right(speeds[0], 13) + TextColumn.right(speeds[1], 13)
                + TextColumn.right(costs[0], 13) + TextColumn.right(costs[1], 12) + " | "
                + zip(spread, [14, 8, 9]).map { TextColumn.right(TextColumn.fixed($0, decimals: 2), $1) }.joined()
                + TextColumn.right(TextColumn.fixed(comparison.cell.budget, decimals: 2), 8)
                + (spread.first.map { $0 >= comparison.cell.budget ? " met" : " MISSED" } ?? ""))
    }

    private static func verdict(_ comparison: Comparison) -> String {
        guard let ratio = comparison.ratio(to: .mosquitto) else { return "" }
        return ratio >= comparison.cell.budget ? " met" : " MISSED"
    }

    private static func columns(_ comparison: Comparison, _ text: (Run) -> String) -> String {
        zip(Contender.columns, widths).map { TextColumn.right(comparison.medians[$0].map(text) ?? "-", $1) }.joined()
    }
}
