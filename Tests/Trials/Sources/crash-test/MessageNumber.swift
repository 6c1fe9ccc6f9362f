/// The number of a message in its lane. It combines the number of the worker process with the message's index in that
/// process. So later messages have higher numbers, and no counter must survive a kill.
struct MessageNumber: Hashable, Comparable, Sendable {
    /// The largest number of messages that one worker process may write to a lane.
    static let perLife = 1 << 16
    /// The largest number of worker processes in a run.
    static let lives = 1 << 15

    let value: Int

    init(life: Int, index: Int) { value = life * Self.perLife + index }
    init(_ value: Int) { self.value = value }

    var life: Int { value / Self.perLife }
    var index: Int { value % Self.perLife }

    static func < (left: Self, right: Self) -> Bool { left.value < right.value }
}

extension MessageNumber: CustomStringConvertible {
    var description: String { "\(life).\(index)" }
}
