import CourierTransport

/// The event loop that several walks use, one after the other, and its clock.
final class WalkMachine: Sendable {
    let clock = WalkClock()
    let group: EventLoopGroup

    init() throws {
        group = try EventLoopGroup(name: "walk", clock: clock)
        clock.attend(loop)
    }

    var loop: EventLoop { group.loops[0] }

    /// Ends the loop.
    func shutdown() { loop.shutdownAndWait() }

    /// Runs the walk of a seed. Blocks the thread.
    ///
    /// - Parameters:
    ///   - seed: Decides everything that happens.
    ///   - rules: The promises that are checked.
    ///   - fault: A mistake that is planted.
    /// - Returns: What it found.
    func walk(seed: UInt64, rules: WalkRules = .all, fault: WalkFault.Kind? = nil) -> WalkResult {
        let walk = Walk(seed: seed, self, fault: fault.map { WalkFault($0) })
        walk.run()
        return walk.result(rules)
    }
}

/// The result of a walk.
struct WalkResult: Sendable {
    let seed: UInt64
    let plan: WalkPlan
    let messages: [WalkMessage]
    let lines: [WalkTranscript.Line]
    let violation: WalkViolation?
    /// The line of the transcript that shows the violation.
    let line: Int?

    /// The entries of each step. Within a step, the order of entries from different threads is random, so they are
    /// sorted.
    var outline: [[String]] {
        lines.map { "\($0.time): \($0.entry)" }.split { $0.hasSuffix("settled") }.map { $0.sorted() }
    }

    /// The plan and the transcript up to the violation.
    var story: String {
        let lines = lines.prefix((line ?? lines.count) + 1).map { "\($0.time): \($0.entry)" }
        return ([String(describing: plan)] + messages.map { String(describing: $0) } + lines).joined(separator: "\n")
    }
}
