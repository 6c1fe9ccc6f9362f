/// The values that were sent in one direction, and the values that were received.
@MainActor final class Inbox<Value: Equatable & Sendable> {
    var sent: [Value] = []
    var received: [Value] = []
    var lastAt = ContinuousClock.now

    /// True if no value was lost, duplicated, reordered or changed.
    var isComplete: Bool { !sent.isEmpty && received == sent }

    var summary: String {
        "\(sent.count) sent, \(received.count) received"
            + (isComplete ? ", in order, none lost, none twice" : ", not what was sent")
    }
}
