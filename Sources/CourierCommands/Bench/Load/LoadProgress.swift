/// Counts the messages of a bench run, and decides when the next message may be sent and when the run is complete.
struct LoadProgress: Hashable, Sendable {
    /// The event up to which the time of a message is measured.
    enum Goal: Hashable, Sendable {
        /// The message arrives at a subscriber.
        case arrival
        /// The broker acknowledges the message.
        case acknowledgement
        /// The client has sent the message.
        case sending
    }

    let goal: Goal
    /// True if the messages have QoS 1 or 2, because the broker acknowledges such messages.
    let isAcknowledged: Bool
    /// The maximum number of messages that were sent but have not reached the event `goal` yet.
    private let window: Int
    /// For each publisher, the number of copies that the broker delivers of each message.
    private(set) var copies: [Int]
    /// The maximum number of messages, or of their copies for subscribers, that may be on the way. It is computed from
    /// `window`.
    private var windowSize = 1

    private(set) var sentCount = 0
    /// The number of messages that the broker accepted.
    private(set) var acknowledgedCount = 0
    /// The number of messages that the broker refused, or that ended without an answer.
    private(set) var refusedCount = 0
    /// The number of message copies that should arrive at subscribers.
    private(set) var expectedCount = 0
    private(set) var arrivedCount = 0
    /// The number of copies that no longer count toward the window, because the connection of their publisher or
    /// subscriber was lost.
    private var writtenOffCount = 0
    /// The number of messages of each publisher that the broker has not answered; all 0 at QoS 0.
    private var unanswered: [Int]
    /// The number of messages that the broker will not answer, because the connection of their publisher was lost.
    private var abandonedCount = 0

    /// Begins the count.
    ///
    /// - Parameters:
    ///   - goal: The event that ends the measured time of a message.
    ///   - isAcknowledged: Whether the broker acknowledges messages.
    ///   - window: The maximum number of messages that were sent but have not reached the goal.
    ///   - copies: How many copies of each publisher's messages the broker delivers.
    init(_ goal: Goal, isAcknowledged: Bool, window: Int, copies: [Int]) {
        self.goal = goal
        self.isAcknowledged = isAcknowledged
        self.window = window
        self.copies = copies
        unanswered = Array(repeating: 0, count: copies.count)
        resizeWindow()
    }

    // MARK: Events

    mutating func sent(by publisher: Int) {
        sentCount += 1
        expectedCount += copies[publisher]
        if isAcknowledged { unanswered[publisher] += 1 }
    }

    mutating func arrived() { arrivedCount += 1 }

    mutating func acknowledged(from publisher: Int) {
        acknowledgedCount += 1
        unanswered[publisher] -= 1
    }

    /// Records that the broker refused a message. Its copies for subscribers are no longer expected.
    mutating func refused(from publisher: Int) {
        refusedCount += 1
        unanswered[publisher] -= 1
        expectedCount -= copies[publisher]
    }

    /// Records that the connection of a publisher was lost. Its unanswered messages no longer count toward the window.
    mutating func lost(publisher: Int) {
        abandonedCount += unanswered[publisher]
        writtenOffCount += unanswered[publisher] * copies[publisher]
        unanswered[publisher] = 0
    }

    /// Changes the numbers of copies, because subscribers were lost. Missing copies of earlier messages no longer count
    /// toward the window.
    mutating func change(copies: [Int]) {
        self.copies = copies
        writtenOffCount = max(0, expectedCount - arrivedCount)
        resizeWindow()
    }

    private mutating func resizeWindow() {
        let sum = copies.reduce(0, +)
        windowSize = goal == .arrival && sum > 0 ? max(1, window * sum / copies.count) : window
    }

    // MARK: State

    /// The number of messages or copies that are on the way, and so count toward the window.
    private var outstandingCount: Int {
        switch goal {
        case .arrival: expectedCount - writtenOffCount - arrivedCount
        case .acknowledgement: unansweredCount
        case .sending: 0
        }
    }

    /// True if another message may be sent without exceeding the window.
    var hasRoom: Bool { outstandingCount < windowSize }

    /// True if at most half of the allowed messages are on the way.
    var isHalfFree: Bool { outstandingCount <= windowSize / 2 }

    /// The number of expected copies that have not arrived.
    var missingCount: Int { max(0, expectedCount - arrivedCount) }

    /// The number of messages that the broker has not answered; 0 at QoS 0.
    var unansweredCount: Int { isAcknowledged ? sentCount - acknowledgedCount - refusedCount - abandonedCount : 0 }

    /// True if all expected copies have arrived, and the broker has answered all messages.
    var isComplete: Bool { missingCount == 0 && unansweredCount == 0 }
}
