/// Prints the table row by row.
enum ThroughputTable {
    private static let nameWidth = 15
    private static let widths = [12, 11, 10, 12]

    static func printHead(rounds: Int) {
        print("64-byte payloads, MQTT 3.1.1, 1,000 in flight, medians of \(rounds); socket: without a library")
        let groups = ["messages/s", "CPU us/message", "peak memory, MiB"].map { title in
            centred(title, widths.reduce(0, +))
        }
        print(padded("", nameWidth) + groups.joined() + " | messages/s, Courier over")
        let titles = zip(Contender.columns, widths).map { right($0.title, $1) }.joined()
        print(padded("", nameWidth) + titles + titles + titles + " | mosquitto  Paho C  budget")
    }

    static func printRow(_ comparison: Comparison) {
        let numbers =
            columns(comparison) { grouped(Int($0.messagesPerSecond.rounded())) }
            + columns(comparison) { fixed($0.cpuMicroseconds, decimals: $0.cpuMicroseconds < 1 ? 3 : 1) }
            + columns(comparison) { fixed(Double($0.peakGrowth) / 1_048_576, decimals: 1) }
        let ratios =
            right(times(comparison.ratio(to: .mosquitto)), 9) + right(times(comparison.ratio(to: .paho)), 8)
            + right("\(Int(comparison.cell.budget))x", 8)
        print(padded(comparison.cell.name, nameWidth) + numbers + " | " + ratios + verdict(comparison))
    }

    static func printClientHead(rounds: Int) {
        print("\nThe public API beside libmosquitto, the same work, medians of \(rounds)")
        print(
            padded("", nameWidth) + padded("form", 8) + right("messages/s", 13) + right("mosquitto", 13)
                + right("CPU us/msg", 12) + " | over mosquitto  budget")
    }

    static func printClientRow(_ comparison: Comparison, _ form: PublicClient.Form) {
        func speed(_ contender: Contender) -> String {
            comparison.medians[contender].map { grouped(Int($0.messagesPerSecond.rounded())) } ?? "-"
        }
        let cpu = comparison.medians[.client(form)].map { fixed($0.cpuMicroseconds, decimals: 3) } ?? "-"
        print(
            padded(comparison.cell.name, nameWidth) + padded(form.rawValue, 8) + right(speed(.client(form)), 13)
                + right(speed(.mosquitto), 13) + right(cpu, 12) + " | "
                + right(times(comparison.ratio(to: .mosquitto)), 14)
                + right("\(Int(comparison.cell.budget))x", 8) + verdict(comparison))
    }

    private static func verdict(_ comparison: Comparison) -> String {
        guard let ratio = comparison.ratio(to: .mosquitto) else { return "" }
        return ratio >= comparison.cell.budget ? " met" : " MISSED"
    }

    private static func columns(_ comparison: Comparison, _ text: (Run) -> String) -> String {
        zip(Contender.columns, widths).map { right(comparison.medians[$0].map(text) ?? "-", $1) }.joined()
    }

    private static func times(_ ratio: Double?) -> String { ratio.map { fixed($0, decimals: 1) + "x" } ?? "-" }

    private static func fixed(_ value: Double, decimals: Int) -> String {
        let digits = String(Int((value * (0..<decimals).reduce(1.0) { scale, _ in scale * 10 }).rounded()))
        let filled = String(repeating: "0", count: max(0, decimals + 1 - digits.count)) + digits
        return filled.dropLast(decimals) + (decimals > 0 ? "." : "") + filled.suffix(decimals)
    }

    private static func grouped(_ value: Int) -> String {
        let digits = Array(String(value))
        return digits.indices.map { index in
            let rest = digits.count - index
            return (index > 0 && rest % 3 == 0 ? "," : "") + String(digits[index])
        }.joined()
    }

    private static func right(_ text: String, _ width: Int) -> String {
        String(repeating: " ", count: max(0, width - text.count)) + text
    }

    private static func padded(_ text: String, _ width: Int) -> String {
        text + String(repeating: " ", count: max(0, width - text.count))
    }

    private static func centred(_ text: String, _ width: Int) -> String {
        padded(right(text, (width + text.count) / 2), width)
    }
}
