/// Makes the line that `courier bench` draws on a terminal every second.
struct LiveLine: Sendable {
    /// The times of the events since the last line.
    private var times = LatencyHistogram()
    /// The number of events that the previous line showed.
    private var shownCount = 0

    /// Adds the time of an event in nanoseconds.
    mutating func add(_ nanoseconds: UInt64) { times.add(nanoseconds) }

    /// Returns the line while connections are being opened.
    static func text(_ connections: ConnectionFigures) -> String {
        "\(connections.openedCount) of \(connections.wantedCount) connected" + problems(of: connections)
    }

    /// Returns the line for the last second, and begins the next second.
    ///
    /// - Parameters:
    ///   - connections: The counts of connections.
    ///   - progress: The counts of messages.
    /// - Returns: The line.
    mutating func next(_ connections: ConnectionFigures, _ progress: LoadProgress) -> String {
        let (count, verb) =
            switch progress.goal {
            case .arrival: (progress.arrivedCount, "arrived")
            case .acknowledgement: (progress.acknowledgedCount, "acknowledged")
            case .sending: (progress.sentCount, "sent")
            }
        let sent = progress.goal == .sending ? "" : "\(progress.sentCount) sent, "
        var text = "\(connections.openedCount - connections.lostCount) connected, \(sent)\(count) \(verb), "
        text += "\(count - shownCount)/s"
        if times.total > 0 {
            text +=
                ", 50 % \(BenchReport.text(times.percentile(0.5))), 99 % \(BenchReport.text(times.percentile(0.99)))"
        }
        shownCount = count
        times = LatencyHistogram()
        return text + Self.problems(of: connections)
    }

    private static func problems(of connections: ConnectionFigures) -> String {
        (connections.failedCount > 0 ? ", \(connections.failedCount) failed" : "")
            + (connections.lostCount > 0 ? ", \(connections.lostCount) lost" : "")
    }
}
