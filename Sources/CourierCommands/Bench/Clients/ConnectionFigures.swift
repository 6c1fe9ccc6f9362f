/// The counts and times of the connections of a bench run.
struct ConnectionFigures: Hashable, Sendable {
    /// The number of clients that should publish.
    var publisherCount = 0
    /// The number of clients that should subscribe.
    var subscriberCount = 0
    /// The number of clients that have tried to connect.
    private(set) var triedCount = 0
    /// The number of connections that the broker accepted.
    private(set) var openedCount = 0
    /// The number of clients without a connection, or without their subscription.
    private(set) var failedCount = 0
    /// The number of connections that were lost.
    private(set) var lostCount = 0
    /// The time from the first attempt to the last accepted connection.
    private(set) var openingTime = Duration.zero
    /// The times from the start of an attempt to the acceptance by the broker.
    private(set) var times = LatencyHistogram()
    /// The number of accepted connections in each time span.
    private(set) var timeline = RateTimeline()
    /// The first problem of a client; `nil` if there is none.
    private(set) var firstProblem: ClientProblem?

    /// The number of all clients.
    var wantedCount: Int { publisherCount + subscriberCount }

    /// Records that a client tries to connect.
    mutating func tried() { triedCount += 1 }

    /// Records an accepted connection.
    ///
    /// - Parameters:
    ///   - nanoseconds: The time from the start of the attempt.
    ///   - time: The time from the first attempt.
    mutating func opened(in nanoseconds: UInt64, after time: Duration) {
        openedCount += 1
        openingTime = time
        times.add(nanoseconds)
        timeline.add(after: time)
    }

    mutating func failed(_ problem: ClientProblem) {
        failedCount += 1
        firstProblem = firstProblem ?? problem
    }

    mutating func lost(_ problem: ClientProblem) {
        lostCount += 1
        firstProblem = firstProblem ?? problem
    }

    /// The problems in one line; `nil` if there are none.
    var problemLine: String? {
        guard let firstProblem else { return nil }
        let counts = [
            failedCount > 0 ? "\(failedCount) of \(wantedCount) clients failed" : nil,
            triedCount < wantedCount
                ? "\(wantedCount - triedCount) of \(wantedCount) clients did not try to connect" : nil,
            lostCount > 0 ? "\(lostCount) of \(wantedCount) connections were lost" : nil,
        ]
        return "Error: \(counts.compactMap(\.self).joined(separator: ", and ")). "
            + "The first problem: \(firstProblem.text)"
    }
}
