/// The number of a message in its lane: which life of the worker wrote it, and the how-manieth of that life it is. Later
/// messages have higher numbers, without a memory that would have to survive the worker.
struct MessageNumber: Hashable, Comparable, Sendable {
    /// How many messages one life may write to a lane.
    static let perLife = 1 << 16
    /// How many lives a run may have.
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
