import Foundation

/// The results of `courier bench`, and the lines that it prints.
struct BenchReport {
    /// The events that the histogram and the timeline of a report count.
    enum Subject: Hashable, Sendable {
        /// Messages that arrived at a subscriber.
        case arrival
        /// Messages that the broker acknowledged.
        case acknowledgement
        /// Messages that the client sent. The times of such messages are not measured, so the report has no histogram.
        case sending
        /// Connections that the broker accepted.
        case connection
    }

    /// The counts of messages and their copies.
    struct MessageCounts: Hashable, Sendable {
        var sent = 0
        /// The number of messages that the broker acknowledged; `nil` at QoS 0.
        var acknowledged: Int?
        /// The number of messages that the broker refused.
        var refused = 0
        /// The number of message copies that all subscribers together should have received.
        var expected = 0
        /// The number of message copies that all subscribers together have received.
        var arrived = 0

        /// The number of message copies that have not arrived at their subscribers.
        var lost: Int { max(0, expected - arrived) }
    }

    /// The length of the longest bar in characters.
    private static let width = 50

    var subject = Subject.arrival
    var messages = MessageCounts()
    let histogram: LatencyHistogram
    let timeline: RateTimeline
    let duration: Duration
    /// The size of a payload in bytes.
    let size: Int
    /// The time from the start of the run to the last event that the report counts; `nil` if a signal ended the run.
    var lastArrival: Duration?
    var connections = ConnectionFigures()
    /// True if the printed lines include the counts of the connections.
    var showsConnections = false

    /// The time in seconds during which the events of the report happened. `rate` is the number of these events divided
    /// by this time.
    var seconds: Double { (lastArrival ?? duration) / .seconds(1) }

    /// The number of events of the kind that the report counts.
    var count: Int {
        switch subject {
        case .arrival: messages.arrived
        case .acknowledgement: messages.acknowledged ?? 0
        case .sending: messages.sent
        case .connection: connections.openedCount
        }
    }

    /// The number of events per second, of the kind that the report counts.
    var rate: Double { seconds > 0 ? Double(count) / seconds : 0 }

    /// True if the times of single events were measured.
    var hasTimes: Bool { histogram.total > 0 }

    // MARK: Text

    /// The text after the number of events, such as `of 100 messages arrived`.
    private var outcome: String {
        switch subject {
        case .arrival where messages.expected == messages.sent: "of \(messages.sent) messages arrived"
        case .arrival: "of \(messages.expected) copies of \(messages.sent) messages arrived"
        case .acknowledgement: "of \(messages.sent) messages acknowledged"
        case .sending: "messages sent"
        case .connection: "of \(connections.wantedCount) connections opened"
        }
    }

    /// The text after the number of events in the picture. It has at most 30 characters.
    var shortOutcome: String {
        switch subject {
        case .arrival where messages.expected == messages.sent: "of \(Self.grouped(messages.sent)) messages arrived"
        case .arrival: "of \(Self.grouped(messages.expected)) copies arrived"
        case .acknowledgement: "of \(Self.grouped(messages.sent)) acknowledged"
        case .sending: "messages sent"
        case .connection: "of \(Self.grouped(connections.wantedCount)) connections opened"
        }
    }

    /// The unit of ``rate``.
    var unit: String { subject == .connection ? "connections" : "messages" }

    /// The meaning of the times in the histogram, such as `latency from publish to arrival`.
    var timeName: String {
        switch subject {
        case .arrival, .sending: "latency from publish to arrival"
        case .acknowledgement: "latency from publish to acknowledgement"
        case .connection: "time from the start of a connection to CONNACK"
        }
    }

    /// The report's lines above the bars of the histogram.
    var headLines: [String] {
        var lines: [String] = []
        if showsConnections || subject == .connection { lines += connectionLines }
        guard subject != .connection else { return lines }
        lines.append(
            "\(count) \(outcome) in \(Self.text(seconds: seconds)): "
                + "\(String(format: "%.0f", rate)) messages/s, "
                + "\(String(format: "%.2f", rate * Double(size) / 1e6)) MB/s of payload")
        if hasTimes { lines.append(Self.line(timeName, histogram)) }
        if showsConnections { lines.append(countLine) }
        return lines
    }

    private var connectionLines: [String] {
        let seconds = connections.openingTime / .seconds(1)
        let rate = seconds > 0 ? Double(connections.openedCount) / seconds : 0
        var lines = [
            "\(connections.openedCount) of \(connections.wantedCount) connections opened "
                + "in \(Self.text(seconds: seconds)): \(String(format: "%.0f", rate)) connections/s, "
                + "\(connections.failedCount) failed, \(connections.lostCount) lost"
        ]
        if connections.times.total > 1 {
            lines.append(Self.line("time from the start of a connection to CONNACK", connections.times))
        }
        return lines
    }

    private var countLine: String {
        let counts = [
            "\(messages.sent) sent", messages.acknowledged.map { "\($0) acknowledged" },
            messages.refused > 0 ? "\(messages.refused) refused" : nil,
        ]
        let copies = "\(messages.expected) expected, \(messages.arrived) arrived, \(messages.lost) lost"
        return "messages: \(counts.compactMap(\.self).joined(separator: ", "))"
            + (subject == .arrival ? "; copies: \(copies)" : "")
    }

    var lines: [String] {
        guard histogram.total > (subject == .connection ? 1 : 0) else { return headLines }
        let largest = histogram.bars.map(\.count).max() ?? 1
        let bars = histogram.bars.map { bar in
            let length = bar.count == 0 ? 0 : max(1, bar.count * Self.width / largest)
            let name = "< \(Self.text(bar.end))"
            let pad = String(repeating: " ", count: max(0, 12 - name.count))
            return "\(pad)\(name)  \(String(repeating: "#", count: length)) \(bar.count)"
        }
        return headLines + [""] + bars
    }

    private static func line(_ name: String, _ times: LatencyHistogram) -> String {
        let shares = [("50 %", 0.5), ("90 %", 0.9), ("99 %", 0.99), ("99.9 %", 0.999)]
        let percentiles = shares.map { "\($0.0) \(text(times.percentile($0.1)))" }
        return "\(name): minimum \(text(times.least)), \(percentiles.joined(separator: ", ")), "
            + "maximum \(text(times.most))"
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

    private static func text(seconds: Double) -> String { "\(String(format: "%.2f", seconds)) s" }
}
