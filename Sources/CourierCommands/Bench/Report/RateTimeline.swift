/// Counts arriving messages in time spans of equal length. The spans become longer, so that there are never more than
/// ``limit`` spans.
struct RateTimeline: Hashable, Sendable {
    /// The maximum number of spans. When more spans would be needed, each pair of neighboring spans is merged.
    static let limit = 240

    /// The number of arrivals in one span. Times are in seconds after the start.
    struct Point: Hashable, Sendable {
        let start: Double
        let length: Double
        let count: Int

        var end: Double { start + length }
        /// The messages per second.
        var rate: Double { length > 0 ? Double(count) / length : 0 }
    }

    /// The current length of a span.
    private(set) var span = Duration.milliseconds(50)
    private var counts: [Int] = []

    /// Counts a message that arrived. `time` is the time since the start of the run.
    mutating func add(after time: Duration) {
        let index = reach(time)
        counts[index] += 1
    }

    /// Adds spans until they include this time. Returns the index of the span that contains the time.
    @discardableResult private mutating func reach(_ time: Duration) -> Int {
        while time >= span * Self.limit { widen() }
        let index = max(0, Int(time / span))
        if index >= counts.count { counts += repeatElement(0, count: index + 1 - counts.count) }
        return index
    }

    private mutating func widen() {
        span *= 2
        counts = stride(from: 0, to: counts.count, by: 2).map { counts[$0..<min($0 + 2, counts.count)].reduce(0, +) }
    }

    /// Returns all spans up to the end of the run, including empty ones. Returns no spans if no message arrived.
    ///
    /// If the run ends in the first half of the last span, this span is merged with the previous span. The rate of such
    /// a short span would not be meaningful.
    func points(until duration: Duration) -> [Point] {
        guard !counts.isEmpty else { return [] }
        var whole = self
        whole.reach(duration)
        let total = duration / .seconds(1)
        let seconds = whole.span / .seconds(1)
        var points: [Point] = []
        for (index, count) in whole.counts.enumerated() {
            let start = Double(index) * seconds
            let covered = min(max(0, total - start), seconds)
            if covered < seconds / 2, let last = points.popLast() {
                points.append(Point(start: last.start, length: last.length + covered, count: last.count + count))
            } else {
                points.append(Point(start: start, length: covered, count: count))
            }
        }
        return points
    }
}
