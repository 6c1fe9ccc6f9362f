import Foundation

/// The results of `courier bench`, and the lines that it prints.
struct BenchReport {
    /// The length of the longest bar in characters.
    private static let width = 50

    let sentCount: Int
    let histogram: LatencyHistogram
    let timeline: RateTimeline
    let duration: Duration
    let size: Int
    /// The time from the start of the run to the last received message, if the remaining messages were lost; otherwise
    /// `nil`.
    var lastArrival: Duration?

    /// The time in seconds during which messages arrived. `rate` is the number of messages divided by this time.
    private var seconds: Double { (lastArrival ?? duration) / .seconds(1) }

    /// The number of received messages per second.
    var rate: Double { seconds > 0 ? Double(histogram.total) / seconds : 0 }

    var lines: [String] {
        var lines = [
            "\(histogram.total) of \(sentCount) messages arrived in \(String(format: "%.2f", seconds)) s: "
                + "\(String(format: "%.0f", rate)) messages/s, "
                + "\(String(format: "%.2f", rate * Double(size) / 1e6)) MB/s of payload"
        ]
        guard histogram.total > 0 else { return lines }
        let shares = [("50 %", 0.5), ("90 %", 0.9), ("99 %", 0.99), ("99.9 %", 0.999)]
        let percentiles = shares.map { "\($0.0) \(Self.text(histogram.percentile($0.1)))" }
        lines.append(
            "latency from publish to arrival: "
                + "minimum \(Self.text(histogram.least)), \(percentiles.joined(separator: ", ")), "
                + "maximum \(Self.text(histogram.most))")
        let largest = histogram.bars.map(\.count).max() ?? 1
        lines.append("")
        lines += histogram.bars.map { bar in
            let length = bar.count == 0 ? 0 : max(1, bar.count * Self.width / largest)
            let name = "< \(Self.text(bar.end))"
            let pad = String(repeating: " ", count: max(0, 12 - name.count))
            return "\(pad)\(name)  \(String(repeating: "#", count: length)) \(bar.count)"
        }
        return lines
    }

    /// Formats a number with commas between groups of three digits.
    static func grouped(_ number: Int) -> String {
        var groups: [Substring] = []
        var rest = String(number.magnitude)[...]
        while !rest.isEmpty {
            groups.insert(rest.suffix(3), at: 0)
            rest = rest.dropLast(3)
        }
        return (number < 0 ? "-" : "") + groups.joined(separator: ",")
    }

    static func text(_ nanoseconds: UInt64) -> String {
        switch nanoseconds {
        case ..<1_000: "\(nanoseconds) ns"
        case ..<1_000_000: String(format: "%.1f µs", Double(nanoseconds) / 1e3)
        case ..<1_000_000_000: String(format: "%.1f ms", Double(nanoseconds) / 1e6)
        default: String(format: "%.1f s", Double(nanoseconds) / 1e9)
        }
    }
}
