/// Measures the number of messages per second, and their age when they are read.
struct FeedMeter: Sendable {
    struct Figures: Sendable {
        var received = 0
        /// The number of messages that could not be decoded, or that exceeded the limit of vehicles.
        var missed = 0
        /// The number of messages in the last full second.
        var perSecond = 0
        /// The age of the last message when it was read, in milliseconds.
        var age = 0
        /// The maximum age in the last full second, in milliseconds.
        var worstAge = 0
    }

    /// The maximum age in milliseconds that is counted separately. A greater age is counted as this age.
    private static let greatestAge = 60_000
    private static let second: Int64 = 1_000

    private var latest = Figures()
    private var ages = [Int](repeating: 0, count: greatestAge + 1)
    private var windowStart: Timestamp?
    private var windowCount = 0
    private var windowWorst = 0

    mutating func received(now: Timestamp, sentAt: Timestamp) {
        closeWindow(now)
        let age = min(max(Int(now.milliseconds - sentAt.milliseconds), 0), Self.greatestAge)
        latest.received += 1
        latest.age = age
        ages[age] += 1
        windowCount += 1
        windowWorst = max(windowWorst, age)
    }

    mutating func missed() { latest.missed += 1 }

    mutating func figures(now: Timestamp) -> Figures {
        closeWindow(now)
        return latest
    }

    /// Returns the age in milliseconds that this fraction of all messages did not exceed.
    func age(ofPart part: Double) -> Int {
        let wanted = Int((part * Double(latest.received)).rounded(.up))
        var counted = 0
        for (age, count) in ages.enumerated() {
            counted += count
            if counted >= wanted { return age }
        }
        return Self.greatestAge
    }

    private mutating func closeWindow(_ now: Timestamp) {
        guard let start = windowStart else {
            windowStart = now
            return
        }
        let length = now.milliseconds - start.milliseconds
        guard length >= Self.second else { return }
        latest.perSecond = Int(Int64(windowCount) * Self.second / length)
        latest.worstAge = windowWorst
        windowStart = now
        windowCount = 0
        windowWorst = 0
    }
}
