/// What was sent on one way, and what came out at its end.
@MainActor final class Inbox<Value: Equatable & Sendable> {
    var sent: [Value] = []
    var received: [Value] = []
    var lastAt = ContinuousClock.now

    /// Nothing lost, nothing twice, nothing out of order, nothing changed on the way.
    var isComplete: Bool { !sent.isEmpty && received == sent }

    var summary: String {
        "\(sent.count) sent, \(received.count) received"
            + (isComplete ? ", in order, none lost, none twice" : ", not what was sent")
    }
}
